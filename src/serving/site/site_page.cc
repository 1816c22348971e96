#include "site/site_page.h"

#include <vector>

#include "base/clock.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/secret.h"
#include "explorer/access.h"
#include "explorer/page.h"
#include "net/http_server.h"
#include "net/whole_reply.h"
#include "site/desk.h"
#include "store/open_store.h"

namespace assay::site {
namespace {

using explorer::Access;

constexpr std::string_view kRoot = "/api/v1/site";
constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kJson = "application/json";

struct PageReply {
  int status = 200;
  std::string body{};
  std::string_view content_type = kJson;
  std::string location{};
  std::string cookie{};
};

PageReply refusal(int status, std::string_view code, std::string_view message) {
  return {.status = status,
          .body = Json::object()
                      .set("error", Json::object().set("code", code).set("message", message))
                      .dump()};
}

PageReply refusal(const Error& error) {
  if (error.code == Code::invalid) return refusal(400, "invalid", error.message);
  if (error.code == Code::not_found) return refusal(404, "not_found", error.message);
  if (error.code == Code::refused) return refusal(409, "refused", error.message);
  return refusal(500, "site", error.message);
}

PageReply refusal(Access::Verdict verdict) {
  switch (verdict) {
    case Access::Verdict::no_token:
    case Access::Verdict::wrong_token:
      return refusal(401, "token", "open the address that assay site serve printed");
    case Access::Verdict::bad_host:
      return refusal(403, "host", "this server is not reached by that name");
    case Access::Verdict::cross_origin:
      return refusal(403, "cross_origin",
                     "only this server's own page may post, as application/json");
    case Access::Verdict::read_only:
    case Access::Verdict::store_failed:
    case Access::Verdict::ok:
      break;
  }
  return refusal(500, "site", "the site's store does not answer");
}

class PageService final : public net::HttpService {
 public:
  PageService(const Policy& policy, const Access& access, store::Store& store)
      : policy_(policy), access_(access), store_(store), journal_(store) {}
  void set_server(net::HttpServer* server) { server_ = server; }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override {
    send(connection, head, answer(head, body));
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant now) override { return now + 500_ms; }

 private:
  PageReply answer(const net::RequestHead& head, std::string_view body) {
    const Access::Verdict verdict = access_.judge(head, store_).verdict;
    const std::string token = Access::token_of_target(head.target);
    const bool only_token = verdict == Access::Verdict::ok ||
                            verdict == Access::Verdict::no_token ||
                            verdict == Access::Verdict::wrong_token;
    if (head.method == "GET" && head.path() == "/" && !token.empty() && only_token) {
      const auto given = access_.judge_token(token, store_).verdict;
      if (given != Access::Verdict::ok) return refusal(given);
      return {
          .status = 303, .content_type = kHtml, .location = "/", .cookie = access_.cookie(token)};
    }
    if (verdict != Access::Verdict::ok) return refusal(verdict);
    if (head.path().starts_with("/api/")) return answer_api(head, body);
    return answer_page(head);
  }

  PageReply answer_api(const net::RequestHead& head, std::string_view body) {
    const std::string_view path = head.path();
    if (path == kRoot) {
      if (head.method != "GET") return refusal(405, "method", "GET");
      return runs();
    }
    const std::string_view act =
        path.starts_with(format("{}/", kRoot)) ? path.substr(kRoot.size() + 1) : std::string_view();
    if (act != "review" && act != "release" && act != "withhold") {
      return refusal(404, "not_found", "no such address");
    }
    if (head.method != "POST") return refusal(405, "method", "POST");
    const auto said = Json::parse(body);
    if (!said) return refusal(400, "invalid", said.error().message);
    return do_act(act, *said);
  }

  PageReply runs() const {
    const auto all = journal_.runs();
    if (!all) return refusal(all.error());
    const sites::ReleasePolicy& release = policy_.release;
    return {.body = Json::object()
                        .set("runs", runs_json(*all))
                        .set("release", Json::object()
                                            .set("fields", json_list(release.fields))
                                            .set("k_minimum", release.k_minimum)
                                            .set("digits", release.digits))
                        .dump()};
  }

  PageReply do_act(std::string_view act, const Json& said) {
    const std::string_view run = said["run"].as_string();
    const std::string at = rfc3339(wall_now());
    if (act == "review") {
      const auto shown = review_run(policy_, journal_, run, at);
      if (!shown) return refusal(shown.error());
      return {.body = Json::object()
                          .set("document", shown->document)
                          .set("sha256", shown->sha256)
                          .set("kept_back", json_list(shown->kept_back))
                          .dump()};
    }
    if (act == "release") {
      const auto signature = release_run(policy_, journal_, run, said["sha256"].as_string(), at);
      if (!signature) return refusal(signature.error());
      return {.body = Json::object().set("signature", *signature).dump()};
    }
    if (const auto done = withhold_run(journal_, run, at); !done) return refusal(done.error());
    return {.body = "{}"};
  }

  static PageReply answer_page(const net::RequestHead& head) {
    if (head.method != "GET" && head.method != "HEAD") return refusal(405, "method", "GET");
    const std::string_view path = head.path();
    const auto* file = explorer::page_file(path == "/" ? "index.html" : path.substr(1));
    if (file == nullptr) return refusal(404, "not_found", "no such address");
    return {.body = explorer::page_bytes(*file, "site"),
            .content_type = explorer::content_type_of(file->name)};
  }

  void send(net::ConnectionId connection, const net::RequestHead& head, const PageReply& reply) {
    std::vector<net::HttpHeader> headers = {{"Content-Security-Policy", explorer::kPagePolicy},
                                            {"X-Content-Type-Options", "nosniff"},
                                            {"Referrer-Policy", "no-referrer"},
                                            {"Cross-Origin-Resource-Policy", "same-origin"},
                                            {"Cross-Origin-Opener-Policy", "same-origin"},
                                            {"Cache-Control", "no-store"}};
    if (!reply.location.empty()) headers.push_back({"Location", reply.location});
    if (!reply.cookie.empty()) headers.push_back({"Set-Cookie", reply.cookie});
    net::send_whole(
        *server_, connection, head,
        {.status = reply.status, .content_type = reply.content_type, .headers = headers},
        reply.body);
  }

  const Policy& policy_;
  const Access& access_;
  store::Store& store_;
  Journal journal_;
  net::HttpServer* server_ = nullptr;
};

}  // namespace

struct SitePage::State {
  OsClock clock{};
  std::string token{};
  std::string address{};
  std::unique_ptr<store::Store> store{};
  std::unique_ptr<Access> access{};
  std::unique_ptr<PageService> service{};
  std::unique_ptr<net::HttpServer> server{};
};

SitePage::SitePage(std::unique_ptr<State> state) : state_(std::move(state)) {}
SitePage::~SitePage() = default;

Result<std::unique_ptr<SitePage>> SitePage::open(const Policy& policy, std::uint16_t port) {
  auto state = std::make_unique<State>();
  state->token = random_secret();
  ASSIGN_OR_RETURN(state->store, store::open_store(policy.store.string()));
  ASSIGN_OR_RETURN(const net::Address asked, net::Address::numeric("127.0.0.1", port));
  ASSIGN_OR_RETURN(net::Fd listener, net::listen_on(asked, {}));
  ASSIGN_OR_RETURN(const net::Address bound, net::local_address(listener));
  state->address = format("http://{}/?token={}", bound.to_string(), state->token);
  state->access = std::make_unique<Access>(explorer::AccessOptions{
      .launch_token = state->token, .port = bound.port(), .loopback = true, .writable = true});
  state->service = std::make_unique<PageService>(policy, *state->access, *state->store);
  ASSIGN_OR_RETURN(
      state->server,
      net::HttpServer::open(std::move(listener),
                            {.limits = {.head_bytes_max = 16U << 10, .body_bytes_max = 16U << 10}},
                            *state->service, state->clock));
  state->service->set_server(state->server.get());
  return std::unique_ptr<SitePage>(new SitePage(std::move(state)));
}

std::string SitePage::url() const { return state_->address; }
void SitePage::run() { state_->server->run(); }
void SitePage::stop() { state_->server->stop(); }

}  // namespace assay::site
