// What is asked of an endpoint beside its queries: its pages, its profiler, its kinds of API and
// its tensors, by a server on loopback that writes down each request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "base/format.h"
#include "domain/described_kind.h"
#include "net/http_reply.h"
#include "net/http_server.h"
#include "protocol/endpoint_capture.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Page {
  int status = 200;
  std::string body{};
  std::string server{};
  bool keep = true;
};

class PagesServer final : net::HttpService {
 public:
  using Answer = std::function<Page(const net::RequestHead&)>;

  explicit PagesServer(Answer answer, bool http2 = false) : answer_(std::move(answer)) {
    net::Fd listener = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
    authority = net::local_address(listener)->to_string();
    server_ =
        std::move(*net::HttpServer::open(std::move(listener), {.http2 = http2}, *this, clock_));
    thread_ = std::thread([this] { server_->run(); });
  }
  ~PagesServer() override { end(); }

  ProbeQuestion question(const std::string& below) const {
    ProbeQuestion out;
    out.url = "http://" + authority + below;
    out.api_key = "key-0123456789";
    out.timeout = 10_s;
    return out;
  }
  // Each request as "METHOD target body", and on how many connections they came. Ends the server,
  // whose thread writes them.
  std::vector<std::string> heard() {
    end();
    return heard_;
  }
  std::size_t connections() {
    end();
    return ids_.size();
  }
  std::vector<std::string> fields() {
    end();
    return fields_;
  }
  // The whole heads: "METHOD target", and " name=value" for each field.
  std::vector<std::string> heads() {
    end();
    return heads_;
  }
  std::string authority{};

 private:
  void end() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  void on_request(net::ConnectionId id, const net::RequestHead& head,
                  std::string_view body) override {
    heard_.push_back(format("{} {} {}", head.method, head.target, body));
    ids_.insert(id);
    fields_.clear();
    heads_.push_back(format("{} {}", head.method, head.target));
    for (const net::HttpHeader& field : head.headers) {
      fields_.emplace_back(field.name);
      heads_.back() += format(" {}={}", field.name, field.value);
    }
    const Page page = answer_(head);
    if (page.status == 0) return server_->reset(id);
    std::string out;
    net::append_head(out, {.status = page.status,
                           .content_type = "application/json",
                           .length = page.body.size(),
                           .keep_alive = page.keep});
    if (!page.server.empty()) out.insert(out.find("\r\n") + 2, "server: " + page.server + " \r\n");
    if (server_->send(id, out + page.body) != net::HttpServer::Sent::gone) {
      server_->finish(id, page.keep);
    }
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }

  OsClock clock_{};
  Answer answer_;
  std::vector<std::string> heard_{};
  std::vector<std::string> fields_{};  // of the last one
  std::vector<std::string> heads_{};
  std::set<net::ConnectionId> ids_{};
  std::unique_ptr<net::HttpServer> server_{};
  std::thread thread_{};
};

const OsClock kPagesClock;

TEST(EndpointCalls, four_pages_are_read_and_each_is_kept_by_its_name) {
  for (const bool keep : {true, false}) {
    PagesServer server([&](const net::RequestHead& head) {
      const std::string_view path = head.path();
      Page page{.keep = keep};
      if (path.ends_with("/models")) page.server = "made by key-0123456789";
      if (path.ends_with("/get_server_info")) page.status = 404;
      page.body = path.ends_with("/metrics") ? std::string(kCapturedBytesMax + 1, 'm')
                                             : format("of {}, key-0123456789", path);
      return page;
    });
    ProbeQuestion question = server.question("/base/v1/?x=1");
    question.headers = {{"X-Own", "y"}};
    const EndpointReplies replies = capture_endpoint(question, kPagesClock);
    EXPECT_EQ(replies.trouble, "");
    EXPECT_EQ(replies.models.status, 200);
    EXPECT_EQ(replies.models.server, "made by <redacted>");
    EXPECT_EQ(replies.models.body, "of /base/v1/models, <redacted>");
    EXPECT_EQ(replies.version.body, "of /base/version, <redacted>");
    EXPECT_EQ(replies.version.server, "");
    EXPECT_EQ(replies.server_info.status, 404);
    EXPECT_EQ(replies.server_info.body, "") << "of a 200 only";
    EXPECT_EQ(replies.metrics.body.size(), kCapturedBytesMax);
    EXPECT_THAT(server.heard(), ElementsAre("GET /base/v1/models?x=1 ", "GET /base/version ",
                                            "GET /base/get_server_info ", "GET /base/metrics "));
    EXPECT_EQ(server.connections(), keep ? 1U : 4U);
    EXPECT_THAT(server.fields(), ElementsAre("Host", "Authorization", "Accept", "X-Own"));
  }
}

TEST(EndpointCalls, pages_that_nobody_gives_are_trouble) {
  PagesServer server([](const net::RequestHead&) { return Page{.status = 0}; });
  const EndpointReplies none = capture_endpoint(server.question(""), kPagesClock);
  EXPECT_EQ(none.trouble, "");
  EXPECT_EQ(none.models.status + none.version.status + none.metrics.status, 0);
  EXPECT_THAT(server.heard(), testing::SizeIs(4));
  const ProbeQuestion gone = server.question("/key-0123456789");
  EXPECT_THAT(capture_endpoint(gone, kPagesClock).trouble, HasSubstr("is the server running"));
  ProbeQuestion odd;
  odd.url = "localhost";
  EXPECT_THAT(capture_endpoint(odd, kPagesClock).trouble, HasSubstr("write http://"));
  EXPECT_THAT(call_profiler(odd, true, kPagesClock).trouble, HasSubstr("write http://"));
  EXPECT_FALSE(PageReader::open(odd, kPagesClock));
}

TEST(EndpointCalls, a_page_is_read_again_over_its_connection_under_its_own_address) {
  int read = 0;
  PagesServer server([&](const net::RequestHead&) {
    ++read;
    return Page{.status = read == 2 ? 503 : read == 4 ? 0 : 200, .body = format("page {}", read)};
  });
  auto reader = PageReader::open(server.question("/stats/all?a=b"), kPagesClock);
  ASSERT_TRUE(reader);
  auto page = reader->read();
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->body, "page 1");
  page = reader->read();
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 503);
  EXPECT_EQ(page->body, "");
  EXPECT_EQ(reader->read()->body, "page 3");
  page = reader->read();
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::timed_out);
  EXPECT_EQ(page.error().message, "no whole reply in time");
  EXPECT_EQ(reader->read()->body, "page 5") << "on a new connection";
  reader = PageReader::open(server.question("/x"), kPagesClock);
  EXPECT_EQ(reader->read()->body, "page 6");
  EXPECT_THAT(server.heard(),
              ElementsAre("GET /stats/all?a=b ", "GET /stats/all?a=b ", "GET /stats/all?a=b ",
                          "GET /stats/all?a=b ", "GET /stats/all?a=b ", "GET /x "));
  EXPECT_EQ(server.connections(), 3U);
  const auto refused = reader->read();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is the server running"));
}

TEST(EndpointCalls, the_profiler_is_told_to_start_and_to_stop) {
  PagesServer server([](const net::RequestHead& head) {
    return Page{.status = head.path().ends_with("/stop_profile") ? 0 : 204};
  });
  const ProbeQuestion question = server.question("/key-0123456789/v1");
  const ProfilerReply started = call_profiler(question, true, kPagesClock);
  EXPECT_EQ(started.url, "http://" + server.authority + "/<redacted>/start_profile");
  EXPECT_EQ(started.status, 204);
  EXPECT_EQ(started.trouble, "");
  const ProfilerReply stopped = call_profiler(question, false, kPagesClock);
  EXPECT_EQ(stopped.status, 0);
  EXPECT_EQ(stopped.trouble, "no reply");
  EXPECT_THAT(server.heard(), ElementsAre("POST /key-0123456789/start_profile ",
                                          "POST /key-0123456789/stop_profile "));
  EXPECT_THAT(server.fields(), ElementsAre("Host", "Content-Length", "Authorization", "Accept"));
  EXPECT_THAT(call_profiler(question, true, kPagesClock).trouble,
              HasSubstr("is the server running"));
}

// Every kind is asked by an empty object at its own route; what has no route says 404.
TEST(EndpointCalls, each_kind_of_api_is_asked_whether_it_is_there) {
  for (const bool keep : {true, false}) {
    PagesServer server([&](const net::RequestHead& head) {
      const std::string_view path = head.path();
      const int status = path.ends_with("/embeddings") ? 422
                         : path.ends_with("/rerank")   ? 401
                                                       : 404;
      return Page{.status = status, .body = "{}", .keep = keep};
    });
    ProbeQuestion question = server.question("");
    question.model = "m";
    question.kinds = true;
    const auto answers = ask_endpoint(question, kPagesClock);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers->kinds.size(), kApis.size() - 1) << "all but what a file describes";
    for (const KindAnswer& kind : answers->kinds) {
      const int status = kind.api == Api::openai_embeddings ? 422
                         : kind.api == Api::rerank          ? 401
                                                            : 404;
      EXPECT_EQ(kind.status, status) << to_string(kind.api);
    }
    const auto heard = server.heard();
    EXPECT_THAT(heard, testing::Contains("POST /v1/embeddings {}"));
    EXPECT_THAT(heard, testing::Contains("POST /v1/messages {}"));
    EXPECT_THAT(heard, testing::Contains("GET /v1/realtime?model=m "));
  }
}

constexpr const char* kWholeReply =
    R"({"data":[{"id":"m"}],"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})";

// Models, a stream and a whole reply are asked, and of them the third is turned away.
TEST(EndpointCalls, a_connection_that_ends_just_as_it_is_asked_is_asked_again_if_it_was_used) {
  for (const bool keep : {true, false}) {
    int asked = 0;
    PagesServer server([&](const net::RequestHead&) {
      return Page{.status = ++asked == 3 ? 0 : 200, .body = kWholeReply, .keep = keep};
    });
    const auto answers = ask_endpoint(server.question(""), kPagesClock);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers->model, "m");
    EXPECT_FALSE(answers->plain_on_same_connection);
    EXPECT_EQ(read_recording(answers->plain).head.status, keep ? 200 : 0);
    EXPECT_THAT(server.heard(), testing::SizeIs(keep ? 4 : 3));
    EXPECT_EQ(server.connections(), keep ? 2U : 3U);
  }
}

TEST(EndpointCalls, a_kind_on_whose_question_the_connection_ended_is_asked_again) {
  int asked = 0;
  PagesServer server([&](const net::RequestHead& head) {
    const bool rerank = head.path().ends_with("/rerank");
    return Page{.status = !rerank ? 404 : ++asked == 1 ? 0 : 422, .body = "{}"};
  });
  ProbeQuestion question = server.question("");
  question.kinds = true;
  const auto answers = ask_endpoint(question, kPagesClock);
  ASSERT_TRUE(answers) << answers.error().message;
  const auto rerank = std::ranges::find(answers->kinds, Api::rerank, &KindAnswer::api);
  ASSERT_NE(rerank, answers->kinds.end());
  EXPECT_EQ(rerank->status, 422);
  server.heard();  // ends the thread that counts
  EXPECT_EQ(asked, 2);
}

TEST(EndpointCalls, only_a_refusal_that_names_the_setting_is_asked_again_without_it) {
  struct Row {
    int status = 0;
    const char* words = "";
    bool refused = false;
  };
  for (const Row& row :
       {Row{400, "unknown key stream_options", true},
        Row{422, "include_usage: not permitted", true}, Row{400, "no such model", false},
        Row{401, "stream_options", false}, Row{200, "stream_options", false}}) {
    int chats = 0;
    PagesServer server([&](const net::RequestHead& head) {
      const bool first = head.path().ends_with("/chat/completions") && ++chats == 1;
      if (!first) return Page{.body = kWholeReply};
      return Page{.status = row.status, .body = format(R"({{"error":"{}"}})", row.words)};
    });
    const auto answers = ask_endpoint(server.question(""), kPagesClock);
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers->usage_refused, row.refused) << row.words;
    EXPECT_EQ(answers->usage_refusal,
              row.refused ? format("HTTP {}: {}", row.status, row.words) : "");
    server.heard();  // as above
    EXPECT_EQ(chats, row.refused ? 3 : 2) << row.words;
  }
}

TEST(EndpointCalls, a_server_of_tensors_says_what_it_and_its_model_take) {
  PagesServer server([](const net::RequestHead& head) {
    return Page{.body = head.path() == "/base/v2" ? R"({"name":"triton","version":"2.9"})"
                                                  : R"({"name":"m","inputs":[{"name":"a",)"
                                                    R"("datatype":"FP32","shape":[1,2]}]})"};
  });
  const auto said = [&](const std::string& model) {
    ProbeQuestion question = server.question("/base");
    question.api = Api::kserve_json;
    question.model = model;
    const auto answers = ask_endpoint(question, kPagesClock);
    EXPECT_TRUE(answers);
    const ProbeReport report = find(question, *answers);
    EXPECT_TRUE(report.answers);
    std::string out;
    for (const ProbeFinding& one : report.findings) out += format("{}: {}\n", one.topic, one.text);
    return out;
  };
  EXPECT_THAT(said(""), testing::AllOf(HasSubstr("server: it is triton 2.9\n"),
                                       HasSubstr("model: no model was named"),
                                       testing::Not(HasSubstr("tensors: "))));
  EXPECT_THAT(said("m"), HasSubstr("tensors: inputs a FP32[1,2]; outputs any\n"));
  EXPECT_THAT(server.heard(), ElementsAre("GET /base/v1/models ", "GET /base/v2 ",
                                          "GET /base/v1/models ", "GET /base/v2/models/m "));
  EXPECT_EQ(server.connections(), 2U) << "one for each probe";
}

std::size_t heads_that(const std::vector<std::string>& heads, std::string_view begin,
                       std::string_view part = "") {
  return static_cast<std::size_t>(std::ranges::count_if(heads, [&](const std::string& head) {
    return head.starts_with(begin) && head.find(part) != std::string::npos;
  }));
}

// The kinds that a server has stand beside the route that the URL names, with headers of their own.
TEST(EndpointCalls, kinds_are_asked_below_the_urls_base_with_their_own_headers) {
  for (const auto& [api, below] : {std::pair{Api::openai, "/p/v1/chat/completions"},
                                   {Api::anthropic_messages, "/p/v1/messages"},
                                   {Api::openai, "/p/v1/chat/completions/"},
                                   {Api::sglang, "/p/generate"},
                                   {Api::openai, "/p/v1"},
                                   {Api::openai, "/p"}}) {
    PagesServer server([](const net::RequestHead&) { return Page{.status = 404, .body = "{}"}; },
                       true);
    ProbeQuestion question = server.question(below);
    question.api = api;
    question.model = "m";
    question.kinds = true;
    const auto answers = ask_endpoint(question, kPagesClock);
    ASSERT_TRUE(answers) << answers.error().message;
    auto heads = server.heads();
    ASSERT_GT(heads.size(), 3U);
    EXPECT_TRUE(heads[0].starts_with("GET /p/v1/models ")) << heads[0];
    heads.erase(heads.begin(), heads.begin() + 3);
    EXPECT_EQ(heads_that(heads, "POST /p/") + heads_that(heads, "GET /p/v1/realtime?model=m "),
              heads.size())
        << below;
    EXPECT_EQ(heads_that(heads, "POST /p/v1/messages ", " anthropic-version="), 1U);
    EXPECT_EQ(heads_that(heads, "", " anthropic-version="), 1U) << "of no other kind";
    EXPECT_EQ(heads_that(heads, "", " x-api-key="), 1U);
    EXPECT_EQ(heads_that(heads, "GET ", " Authorization=Bearer key-0123456789"), 1U);
    EXPECT_EQ(heads_that(heads, "POST /p/v1/embeddings "), 1U);
    EXPECT_EQ(heads_that(heads, "POST /p/generate "), 1U) << "beside /v1";
    EXPECT_EQ(heads_that(heads, "POST /p/classify "), 1U);
    // By gRPC, over HTTP/2, only the server is asked.
    EXPECT_EQ(heads_that(heads, "POST /p/inference.GRPCInferenceService/ServerReady "), 1U);
    EXPECT_EQ(heads_that(heads, "POST /p/inference.GRPCInferenceService/Model"), 0U);
  }
}

TEST(EndpointCalls, a_described_kind_is_asked_at_its_route_and_no_other_kind_has_its_headers) {
  auto kind = parse_described_kind(
      *Json::parse(R"({"kind":"tell","route":"/tell","headers":{"x-version":"2"},)"
                   R"("request":{"words":"{prompt}","live":"{stream}"},)"
                   R"("reply":{"text":"say"},"whole":{"text":"story"}})"));
  ASSERT_TRUE(kind) << kind.error().message;
  PagesServer server([](const net::RequestHead&) { return Page{.status = 404, .body = "{}"}; });
  ProbeQuestion question = server.question("/p/tell");
  question.api = Api::described;
  question.described = std::make_shared<const DescribedKind>(*std::move(kind));
  question.model = "m";
  question.kinds = true;
  const auto answers = ask_endpoint(question, kPagesClock);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->described, question.described);
  const auto heads = server.heads();
  EXPECT_EQ(heads_that(heads, "GET /p/v1/models "), 1U);
  EXPECT_GE(heads_that(heads, "POST /p/tell ", " x-version=2"), 1U);
  EXPECT_EQ(heads_that(heads, "POST /p/tell ", " x-version=2") +
                heads_that(heads, "GET /p/v1/models ", " x-version=2"),
            heads_that(heads, "", " x-version=2"));
}

}  // namespace
}  // namespace assay::protocol
