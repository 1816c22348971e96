#include "protocol/secrets.h"

#include <algorithm>

#include "base/text.h"

namespace assay::protocol {
namespace {

// Shortest secret value of other headers: shorter ones may be everyday words.
constexpr std::size_t kValueMin = 8;

bool names_a_secret(std::string_view name) {
  const std::string word = lower(name);
  const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  return has("auth") || has("key") || has("token") || has("secret") || has("cookie") ||
         has("password") || has("signature") || word == "sig" || word == "code";
}

bool says_what_is_sent(std::string_view name) {
  const std::string word = lower(name);
  return word.starts_with("accept") || word.starts_with("content-") || word == "user-agent" ||
         word == "connection" || word == "host" || word == "cache-control";
}

void add_words(std::vector<Secret>& out, std::string_view value) {
  out.push_back({std::string(value), true});
  while (!value.empty()) {
    const std::size_t end = std::min(value.find_first_of(" ;,=\t"), value.size());
    const std::string_view word = value.substr(0, end);
    // "Bearer", "Basic", "session": not the secret itself.
    if (word.size() >= kValueMin) out.push_back({std::string(word), true});
    value.remove_prefix(std::min(end + 1, value.size()));
  }
}

void add_query(std::vector<Secret>& out, std::string_view url) {
  const std::size_t question = url.find('?');
  if (question == std::string_view::npos) return;
  for (const std::string_view pair : split(url.substr(question + 1), '&')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || !names_a_secret(pair.substr(0, equals))) continue;
    out.push_back({std::string(pair.substr(equals + 1)), true});
  }
}

void add_user(std::vector<Secret>& out, std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) return;
  std::string_view authority = url.substr(mark + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return;
  const std::string_view user = authority.substr(0, at);
  out.push_back({std::string(user), true});
  const std::size_t colon = user.find(':');
  if (colon != std::string_view::npos) out.push_back({std::string(user.substr(colon + 1)), true});
}

}  // namespace

Redactor redactor_of(const Endpoints& endpoints) {
  std::vector<Secret> secrets;
  if (!endpoints.api_key.empty()) secrets.push_back({endpoints.api_key, true});
  for (const auto& [name, value] : endpoints.headers) {
    if (names_a_secret(name)) {
      add_words(secrets, value);
    } else if (!says_what_is_sent(name) && value.size() >= kValueMin) {
      secrets.push_back({value, false});
    }
  }
  for (const std::string& url : endpoints.urls) {
    add_query(secrets, url);
    add_user(secrets, url);
  }
  return Redactor(secrets);
}

}  // namespace assay::protocol
