#include "explorer/access.h"

#include <algorithm>
#include <array>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::explorer {
namespace {

constexpr std::array kRoles{Role::reader, Role::submitter, Role::reviewer, Role::chair};

bool is_write(std::string_view method) { return method != "GET" && method != "HEAD"; }

}  // namespace

std::string_view to_string(Role role) { return enum_name(role); }

Result<Role> role_named(std::string_view name) {
  const auto found = std::ranges::find_if(kRoles, [name](Role r) { return to_string(r) == name; });
  if (found != kRoles.end()) return *found;
  return invalid(format("role '{}': one of reader, submitter, reviewer, chair", name));
}

Access::Access(AccessOptions options)
    : options_(std::move(options)), launch_hash_(sha256_hex(options_.launch_token)) {}

std::string Access::cookie_name() const { return format("assay_session_{}", options_.port); }

std::string Access::cookie(std::string_view token) const {
  return format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(), token);
}

bool Access::host_is_ours(std::string_view host) const {
  if (!options_.loopback) return true;
  for (const char* name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (lower(host) == format("{}:{}", name, options_.port)) return true;
  }
  return false;
}

std::string Access::token_of(const net::RequestHead& head) const {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view authorization = head.find("authorization");
  if (lower(authorization.substr(0, kBearer.size())) == kBearer) {
    return std::string(trim(authorization.substr(kBearer.size())));
  }
  const std::string name = cookie_name() + "=";
  for (const std::string_view part : split(head.find("cookie"), ';')) {
    if (trim(part).starts_with(name)) return std::string(trim(part).substr(name.size()));
  }
  return {};
}

Access::Answer Access::judge_token(std::string_view token, store::Store& store) const {
  // Compares digests, so that the time does not reveal how much of a token was right.
  const std::string hash = sha256_hex(token);
  if (!options_.launch_token.empty() && hash == launch_hash_) return {Verdict::ok, {}};
  const auto found = store.token(hash);
  if (!found) return {Verdict::store_failed, {}};
  if (!found->has_value() || (*found)->revoked) return {Verdict::wrong_token, {}};
  const auto role = role_named((*found)->role);
  if (!role) return {Verdict::wrong_token, {}};
  return {Verdict::ok, {*role, (*found)->organisation}};
}

Access::Answer Access::judge(const net::RequestHead& head, store::Store& store) const {
  const std::string_view host = head.find("host");
  if (!host_is_ours(host)) return {Verdict::bad_host, {}};
  if (is_write(head.method)) {
    const std::string_view origin = head.find("origin");
    const std::string_view site = head.find("sec-fetch-site");
    const bool ours = origin.empty() || origin == format("http://{}", host);
    if (!ours || (!site.empty() && site != "same-origin" && site != "none")) {
      return {Verdict::cross_origin, {}};
    }
    // Another site's form can send text/plain and urlencoded; other types need a CORS preflight.
    const std::string_view type = head.find("content-type");
    if (!lower(type).starts_with("application/json")) return {Verdict::cross_origin, {}};
  }
  const std::string token = token_of(head);
  Answer answer;
  if (token.empty()) {
    if (!options_.launch_token.empty()) return {Verdict::no_token, {}};
  } else {
    answer = judge_token(token, store);
    // Without a launch token every client may read, also with an old cookie.
    if (answer.verdict == Verdict::wrong_token && options_.launch_token.empty()) answer = {};
    if (answer.verdict != Verdict::ok) return answer;
  }
  if (is_write(head.method) && !options_.writable) return {Verdict::read_only, answer.session};
  return answer;
}

std::string Access::token_of_target(std::string_view target) {
  for (const auto& [name, value] : query_of(target)) {
    if (name == "token") return value;
  }
  return {};
}

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> query_of(std::string_view target) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return out;
  for (const std::string_view part : split(target.substr(question + 1), '&')) {
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    out.emplace_back(percent_decoded(part.substr(0, equals), true),
                     percent_decoded(part.substr(std::min(part.size(), equals + 1)), true));
  }
  return out;
}

}  // namespace assay::explorer
