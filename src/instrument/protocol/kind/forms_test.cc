// Kinds that are asked by a form: edits of pictures, and jobs that make videos.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Generation form_settings() {
  Generation out;
  out.model = "m";
  out.stream = false;
  return out;
}

Sample edit_sample() {
  Sample out;
  out.prompt = "a hat";
  out.attachments = {{.name = "image", .type = "image/png", .file = "a.png", .bytes = "\x89PNG"},
                     {.name = "mask", .type = "image/png", .file = "m.png", .bytes = "mask"}};
  out.body = Json::object().set("n", 2).set("size", "64x64");
  return out;
}

std::string form_field(std::string_view name, std::string_view value) {
  return format(
      "------assay-form-7d81f0c2\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n",
      name, value);
}

TEST(FormRequests, an_edit_is_a_form_with_its_pictures_behind_its_fields) {
  const auto body = make_body(Api::openai_image_edits, form_settings(), edit_sample(), false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->bytes,
            form_field("model", "m") + form_field("prompt", "a hat") + form_field("n", "2") +
                form_field("size", "64x64") + form_field("response_format", "b64_json") +
                "------assay-form-7d81f0c2\r\nContent-Disposition: form-data; name=\"image\"; "
                "filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n"
                "------assay-form-7d81f0c2\r\nContent-Disposition: form-data; name=\"mask\"; "
                "filename=\"m.png\"\r\nContent-Type: image/png\r\n\r\nmask\r\n"
                "------assay-form-7d81f0c2--\r\n");
  EXPECT_EQ(body->asked.choices, 2);
  // The kind's own type says the boundary.
  EXPECT_TRUE(body->headers.empty());
  const auto headers =
      request_headers({.urls = {"http://h"}, .api = Api::openai_image_edits}, false, "");
  ASSERT_TRUE(headers);
  EXPECT_THAT(*headers, testing::Contains(Header{"Content-Type", std::string(kFormType)}));
}

TEST(FormRequests, a_text_that_holds_the_boundary_gets_another_one) {
  Sample sample = edit_sample();
  sample.prompt = "----assay-form-7d81f0c2";
  const auto body = make_body(Api::openai_image_edits, form_settings(), sample, false);
  ASSERT_TRUE(body);
  ASSERT_EQ(body->headers.size(), 1U);
  EXPECT_THAT(body->headers[0].second, EndsWith("boundary=----assay-form-7d81f0c2x"));
  EXPECT_THAT(body->bytes, EndsWith("------assay-form-7d81f0c2x--\r\n"));
}

TEST(FormRequests, an_edit_needs_a_picture_and_a_prompt) {
  const auto why = [](const Sample& sample) {
    const auto body = make_body(Api::openai_image_edits, form_settings(), sample, false);
    EXPECT_FALSE(body);
    return body ? "" : body.error().message;
  };
  Sample no_picture = edit_sample();
  no_picture.attachments.erase(no_picture.attachments.begin());
  EXPECT_THAT(why(no_picture), HasSubstr("a column 'image'"));
  Sample no_prompt = edit_sample();
  no_prompt.prompt.clear();
  EXPECT_THAT(why(no_prompt), HasSubstr("no prompt"));
}

TEST(FormRequests, a_video_is_asked_for_with_what_the_row_says_and_takes_a_salt) {
  Sample sample;
  sample.prompt = "a cube turns";
  sample.body = Json::object().set("fps", 16).set("seconds", "8").set("size", "1280x720");
  const auto body = make_body(Api::openai_videos, form_settings(), sample, false);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(body->bytes, form_field("model", "m") + form_field("prompt", "a cube turns") +
                             form_field("seconds", "8") + form_field("size", "1280x720") +
                             form_field("fps", "16") + "------assay-form-7d81f0c2--\r\n");
  EXPECT_EQ(body->asked.choices, 1);
  const auto salted = make_body(Api::openai_videos, form_settings(), sample, true);
  ASSERT_TRUE(salted) << salted.error().message;
  EXPECT_EQ(salted->bytes.substr(salted->salt_offset, kSaltDigits), std::string(kSaltDigits, '0'));
}

TEST(VideoJobs, a_state_says_whether_the_job_goes_on) {
  using enum JobStanding;
  const auto standing = [](std::string_view status) {
    return read_job(format(R"({{"id":"v","status":"{}"}})", status)).standing;
  };
  for (const auto word : {"queued", "in_progress"}) EXPECT_EQ(standing(word), running) << word;
  EXPECT_EQ(standing("completed"), completed);
  for (const auto word : {"failed", "cancelled", "expired"}) EXPECT_EQ(standing(word), failed);
  EXPECT_EQ(standing("odd"), unknown);
  for (const auto text : {"", "[]", "{", R"({"status":"queued"})", R"({"id":"","status":"queued"})",
                          R"({"id":7,"status":"queued"})"}) {
    EXPECT_EQ(read_job(text).standing, unknown) << text;
  }
  EXPECT_EQ(read_job(format(R"({{"id":"{}","status":"queued"}})", std::string(513, 'v'))).standing,
            unknown);
}

TEST(VideoJobs, a_reply_is_the_videos_bytes_or_the_state_of_a_job_that_ended) {
  const auto units = [](std::string_view body) {
    std::string padded(body);
    padded.append(kDecodePadding, '\0');
    ReplyDecoder decoder;
    DecodedEvent event;
    decoder.decode_reply(Api::openai_videos, {padded.data(), body.size()}, event);
    if (event.category == Category::error) return std::string(event.error);
    return format("{} {}", event.has_choice && !event.malformed, event.units);
  };
  EXPECT_EQ(units(std::string("\0\0\0\x18"
                              "ftypisom",
                              12)),
            "true 1");
  EXPECT_EQ(units(R"({"id":"v","status":"completed","error":null})"), "true 1");
  EXPECT_EQ(units(R"({"id":"v","status":"queued"})"), "false 0");
  EXPECT_EQ(units(R"({"detail":"no"})"), "false 0");
  EXPECT_EQ(units(R"({"id":"v","status":"failed","error":{"message":"rude"}})"), "rude");
  EXPECT_EQ(units(R"({"id":"v","status":"expired"})"), "the job failed, and says no error");
}

TEST(FormRequests, names_are_quoted_lists_are_repeated_and_a_file_has_a_type) {
  Sample sample = edit_sample();
  sample.attachments = {{.name = "image\"\r\n", .type = "", .file = "a\"b", .bytes = "1"}};
  RequestBody out;
  encode_form(Json::object()
                  .set("n", 2)
                  .set("tags", Json::array().push_back("a").push_back(5))
                  .set("none", Json::array())
                  .set("deep", Json::object().set("x", true)),
              sample, out);
  EXPECT_EQ(out.bytes, form_field("n", "2") + form_field("tags[]", "a") +
                           form_field("tags[]", "5") + form_field("deep", R"({"x":true})") +
                           "------assay-form-7d81f0c2\r\nContent-Disposition: form-data; "
                           "name=\"image%22%0D%0A\"; filename=\"a%22b\"\r\n"
                           "Content-Type: application/octet-stream\r\n\r\n1\r\n"
                           "------assay-form-7d81f0c2--\r\n");
  EXPECT_TRUE(out.headers.empty());
}

TEST(FormRequests, a_boundary_grows_until_no_part_holds_it) {
  Sample sample;
  RequestBody out;
  const std::string own = "----assay-form-7d81f0c2";
  encode_form(Json::object().set("a", own + "x and " + own), sample, out);
  ASSERT_EQ(out.headers.size(), 1U);
  EXPECT_EQ(out.headers[0].second, "multipart/form-data; boundary=" + own + "xx");
  EXPECT_THAT(out.bytes, testing::StartsWith("--" + own + "xx\r\n"))
      << "nothing of the tries before";
  RequestBody plain;
  ASSERT_TRUE(encode_plain_form(Json::object(), sample, plain));
  EXPECT_EQ(plain.bytes, "--" + own + "--\r\n");
}

TEST(VideoJobs, every_server_has_its_words_for_a_state) {
  using enum JobStanding;
  const auto standing = [](std::string_view status) {
    return read_job(format(R"({{"id":"v","status":"{}"}})", status)).standing;
  };
  for (const auto word : {"processing", "running", "pending"}) EXPECT_EQ(standing(word), running);
  EXPECT_EQ(standing("succeeded"), completed);
  EXPECT_EQ(standing("canceled"), failed);
  const JobAnswer longest =
      read_job(format(R"({{"id":"{}","status":"queued"}})", std::string(512, 'v')));
  EXPECT_EQ(longest.standing, running);
  EXPECT_EQ(longest.id.size(), 512U);
}

}  // namespace
}  // namespace assay::protocol
