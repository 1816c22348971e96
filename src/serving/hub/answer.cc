#include "hub/answer.h"

#include <optional>

#include "base/hash.h"
#include "base/text.h"
#include "explorer/page.h"

namespace assay::hub {
namespace {

constexpr std::string_view kRoot = "/api/v1/";

Reply refusal(int status, std::string_view code, std::string_view message) {
  return {.status = status,
          .body = Json::object()
                      .set("error", Json::object().set("code", code).set("message", message))
                      .dump()};
}

Reply refusal(const Error& error) {
  switch (error.code) {
    case Code::invalid:
      return refusal(400, "invalid", error.message);
    case Code::refused:
      return refusal(409, "refused", error.message);
    case Code::not_found:
      return refusal(404, "not_found", error.message);
    case Code::timed_out:
    case Code::corrupt:
    case Code::unsupported:
    case Code::io:
    case Code::exhausted:
      // What the database says is not for the network.
      return refusal(500, "store", "the hub's history cannot be read or written");
  }
  return refusal(500, "store", "");
}

Result<std::optional<sites::Actor>> actor_of(const net::RequestHead& head, store::Store& store) {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view given = head.find("authorization");
  if (lower(given.substr(0, kBearer.size())) != kBearer) return std::optional<sites::Actor>();
  // The store has digests, so that the time does not reveal how much of a token was right.
  ASSIGN_OR_RETURN(const auto found, store.token(sha256_hex(trim(given.substr(kBearer.size())))));
  if (!found || found->revoked) return std::optional<sites::Actor>();
  const auto role = sites::role_named(found->role);
  // A token of the review board, in the same store.
  if (!role) return std::optional<sites::Actor>();
  return std::optional<sites::Actor>(sites::Actor{*role, found->organisation});
}

// What a browser says of who asks: the hub's own page may, whichever name it is reached by.
bool from_another_site(const net::RequestHead& head) {
  const std::string_view site = head.find("sec-fetch-site");
  if (!site.empty() && site != "none" && site != "same-origin") return true;
  const std::string_view origin = head.find("origin");
  if (origin.empty()) return false;
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos || origin.substr(scheme + 3) != head.find("host");
}

Reply page(const net::RequestHead& head) {
  if (head.method != "GET" && head.method != "HEAD") return refusal(405, "method", "GET");
  const std::string_view path = head.path();
  const auto* const file = explorer::page_file(path == "/" ? "index.html" : path.substr(1));
  if (file == nullptr) return refusal(404, "not_found", "no such address");
  return {.body = explorer::page_bytes(*file, "hub"),
          .content_type = explorer::content_type_of(file->name),
          .page = true};
}

Reply take_act(Ledger& ledger, const net::RequestHead& head, std::string_view body,
               const sites::Actor& actor, const std::string& at) {
  if (!lower(head.find("content-type")).starts_with("application/json")) {
    return refusal(415, "content_type", "an act is sent as application/json");
  }
  const auto act = sites::parse_act(body);
  if (!act) return refusal(400, "invalid", act.error().message);
  const auto done = ledger.act(actor, *act, at);
  if (!done) return refusal(done.error());
  const bool repeated = *done == sites::Effect::repeated;
  return {.status = repeated ? 200 : 201,
          .body = Json::object()
                      .set("accepted", true)
                      .set("repeated", repeated)
                      .set("entries", ledger.count())
                      .set("head", ledger.head())
                      .dump()};
}

}  // namespace

Reply answer(store::Store& store, Ledger& ledger, const net::RequestHead& head,
             std::string_view body, const std::string& at) {
  if (!head.path().starts_with("/api/")) return page(head);
  if (from_another_site(head)) {
    return refusal(403, "cross_origin", "a page of another origin asks nothing of a hub");
  }
  const auto actor = actor_of(head, store);
  if (!actor) return refusal(actor.error());
  if (!*actor) return refusal(401, "token", "Authorization: Bearer TOKEN, a token of this hub");
  std::string_view path = head.path();
  if (!path.starts_with(kRoot)) return refusal(404, "not_found", "no such address");
  path.remove_prefix(kRoot.size());
  const bool post = head.method == "POST";
  const bool get = head.method == "GET";
  if (path == "acts") {
    if (!post) return refusal(405, "method", "POST");
    return take_act(ledger, head, body, **actor, at);
  }
  if (path != "federation" && path != "party") return refusal(404, "not_found", "no such address");
  if (!get) return refusal(405, "method", "GET");
  if (path == "party") {
    return {.body = Json::object()
                        .set("organisation", (*actor)->organisation)
                        .set("role", to_string((*actor)->role))
                        .dump()};
  }
  if (const auto read = ledger.refresh(); !read) return refusal(read.error());
  return {.body = to_json(ledger.state(), &**actor)
                      .set("entries", ledger.count())
                      .set("head", ledger.head())
                      .dump()};
}

}  // namespace assay::hub
