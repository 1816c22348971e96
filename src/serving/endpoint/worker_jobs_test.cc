// The endpoint's video jobs: what a client sees of one from its POST to its bytes, and its faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "endpoint/endpoint.h"
#include "endpoint/job_book.h"
#include "endpoint/test_client.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCube = R"({"prompt":"a cube","size":"64x32","seconds":8})";

EndpointOptions job_options() {
  EndpointOptions out;
  out.port = 0;
  out.osl = dataset::LengthSpec::fixed(3);
  return out;
}

// The job's state once it has ended.
Json job_at_end(TestClient& client, const Json& job) {
  for (;;) {
    const Json now = client.get(format("/v1/videos/{}", job["id"].as_string())).json();
    const std::string_view status = now["status"].as_string();
    if (status != "queued" && status != "in_progress") return now;
  }
}

TEST(WorkerJobs, a_job_is_answered_at_once_and_its_video_is_there_when_it_is_completed) {
  const auto server = Endpoint::open(job_options());
  ASSERT_TRUE(server);
  (*server)->start();
  TestClient client((*server)->url());
  const Json job = client.ask("/v1/videos", kCube).json();
  EXPECT_EQ(job["object"].as_string(), "video");
  EXPECT_EQ(job["size"].as_string(), "64x32");
  EXPECT_EQ(job["seconds"].as_string(), "8");
  // Another connection may ask: jobs belong to no connection.
  TestClient other((*server)->url());
  const Json end = job_at_end(other, job);
  EXPECT_EQ(end["status"].as_string(), "completed");
  EXPECT_EQ(end["progress"].as_int(), 100);
  const std::string path = format("/v1/videos/{}/content", job["id"].as_string());
  const Exchange video = other.get(path);
  EXPECT_EQ(video.status, 200);
  EXPECT_THAT(video.head(), HasSubstr("Content-Type: video/mp4"));
  EXPECT_EQ(video.body.substr(4, 8), "ftypisom");
  EXPECT_EQ(video.body.size(), 24 + 3 * 1024U);
  EXPECT_EQ(other.get(path).body, video.body);
  // Forms are read as JSON is.
  const std::string form =
      "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na cube\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"seconds\"\r\n\r\n4\r\n--b--\r\n";
  const Json second =
      client.ask("/v1/videos", form, "Content-Type: multipart/form-data; boundary=b\r\n").json();
  EXPECT_EQ(second["seconds"].as_string(), "4");
  EXPECT_NE(second["id"].as_string(), job["id"].as_string());
  job_at_end(client, second);
  (*server)->stop();
  EXPECT_EQ((*server)->summary().served, 2U);
}

TEST(WorkerJobs, what_cannot_be_is_refused_by_field) {
  const auto server = Endpoint::open(job_options());
  ASSERT_TRUE(server);
  (*server)->start();
  TestClient client((*server)->url());
  const auto why = [&](std::string_view body) {
    const Exchange reply = client.ask("/v1/videos", body);
    EXPECT_EQ(reply.status, 400) << body;
    return std::string(reply.json()["error"]["message"].as_string());
  };
  EXPECT_THAT(why("{}"), HasSubstr("prompt"));
  EXPECT_THAT(why(R"({"prompt":"x","size":"wide"})"), HasSubstr("size"));
  EXPECT_THAT(why(R"({"prompt":"x","seconds":"0"})"), HasSubstr("seconds"));
  EXPECT_EQ(client.get("/v1/videos/none").status, 404);
  EXPECT_EQ(client.get("/v1/videos/none/content").status, 404);
  EXPECT_EQ(client.ask("/v1/images/edits", R"({"prompt":"x"})").status, 400);
}

TEST(WorkerJobs, a_fault_is_met_where_a_client_would_meet_it) {
  const auto met = [](const char* fault) {
    EndpointOptions options = job_options();
    EXPECT_TRUE(options.faults.add(format("{}=1", fault)));
    const auto server = Endpoint::open(options);
    EXPECT_TRUE(server);
    (*server)->start();
    TestClient client((*server)->url());
    const Exchange begun = client.ask("/v1/videos", kCube);
    if (begun.status != 200) return format("HTTP {}", begun.status);
    const std::string path = format("/v1/videos/{}", begun.json()["id"].as_string());
    for (;;) {
      const auto state = Json::parse(client.get(path).body);
      if (!state) return std::string("no JSON");
      const std::string_view status = (*state)["status"].as_string();
      if (status == "failed") return std::string((*state)["error"]["message"].as_string());
      if (status == "completed") break;
    }
    const Exchange video = client.get(path + "/content");
    return std::string(video.ending == Ending::complete ? "whole" : "cut");
  };
  EXPECT_EQ(met("http503"), "HTTP 503");
  EXPECT_EQ(met("error"), "The job was aborted by the server.");
  EXPECT_EQ(met("garbage"), "no JSON");
  EXPECT_EQ(met("truncate"), "cut");
  EXPECT_EQ(met("reset"), "cut");
}

TEST(JobBook, the_oldest_jobs_are_forgotten_first) {
  JobBook book;
  for (std::size_t i = 0; i <= JobBook::kJobsMax; ++i) book.put({.id = format("v{}", i)});
  EXPECT_FALSE(book.find("v0"));
  EXPECT_TRUE(book.find("v1"));
  book.put({.id = "v1", .state = JobState::failed});
  EXPECT_TRUE(book.find("v2"));  // a change takes no place
  EXPECT_EQ(book.find("v1")->state, JobState::failed);
  EXPECT_TRUE(book.erase("v1"));
  EXPECT_FALSE(book.erase("v1"));
}

}  // namespace
}  // namespace assay::endpoint
