#include "plan/saved_config.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/text.h"
#include "base/version.h"
#include "base/yaml.h"
#include "plan/own_lines.h"
#include "plan/resolve.h"
#include "plan/settings.h"

namespace assay::plan {
namespace {

constexpr std::string_view kRedacted = "<redacted>";

bool is_secret_name(std::string_view name) {
  std::string key = lower(name);
  std::replace(key.begin(), key.end(), '-', '_');
  for (const std::string_view word :
       {"api_key", "access_token", "authorization", "auth", "cookie", "password", "token"}) {
    if (key == word) return true;
  }
  return key.ends_with("_auth") || key.ends_with("_authorization") || key.ends_with("_key") ||
         key.ends_with("_token") || key.ends_with("_password") ||
         key.find("secret") != std::string::npos;
}

// True for what makes a dollar sign before it a reference (environment.h).
bool may_follow_dollar(char c) {
  return c == '$' || c == '{' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_url(std::string_view text) {
  const std::string scheme = lower(text.substr(0, text.find("://")));
  return scheme.size() < text.size() && (scheme == "http" || scheme == "https" || scheme == "ws" ||
                                         scheme == "wss" || scheme == "http+unix");
}

// Removes `key`, the run's secret, wherever it occurs.
void redact(Json& json, std::string_view key) {
  if (json.is_array()) {
    for (Json& item : json.make_array()) redact(item, key);
  } else if (json.is_object()) {
    for (auto& [name, value] : json.make_object()) {
      if (is_secret_name(name) && !value.is_null()) {
        value = Json(kRedacted);
      } else {
        redact(value, key);
      }
    }
  } else if (json.is_string()) {
    std::string text(json.as_string());
    if (is_url(text)) text = redact_url(text);
    // Shorter texts are words, not keys.
    constexpr std::size_t kKeyMin = 8;
    for (std::size_t at = 0; key.size() >= kKeyMin;) {
      at = text.find(key, at);
      if (at == std::string::npos) break;
      text.replace(at, key.size(), kRedacted);
      at += kRedacted.size();
    }
    json = Json(std::move(text));
  }
}

// Doubles each dollar sign that a reader would take for a reference or for a doubled one.
void keep_dollars(Json& json) {
  if (json.is_array()) {
    for (Json& item : json.make_array()) keep_dollars(item);
  } else if (json.is_object()) {
    for (auto& [name, value] : json.make_object()) keep_dollars(value);
  } else if (json.is_string()) {
    std::string out;
    const std::string_view text = json.as_string();
    for (std::size_t i = 0; i < text.size(); ++i) {
      out += text[i];
      if (text[i] == '$' && i + 1 < text.size() && may_follow_dollar(text[i + 1])) out += '$';
    }
    if (out.size() > text.size()) json = Json(std::move(out));
  }
}

}  // namespace

std::string redact_url(std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) return std::string(url);
  std::string out(url.substr(0, mark + 3));
  std::string_view rest = url.substr(mark + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  rest.remove_prefix(authority.size());
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) {
    out += authority;
  } else {
    out += format("{}{}", kRedacted, authority.substr(at));
  }
  const std::size_t question = rest.find('?');
  if (question == std::string_view::npos) return out + std::string(rest);
  out += rest.substr(0, question + 1);
  const std::string_view after = rest.substr(question + 1);
  const std::string_view query = after.substr(0, after.find('#'));
  bool first = true;
  for (const std::string_view pair : split(query, '&')) {
    if (!first) out += '&';
    first = false;
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && is_secret_name(pair.substr(0, equals))) {
      out += format("{}=%3Credacted%3E", pair.substr(0, equals));
    } else {
      out += pair;
    }
  }
  return out + std::string(after.substr(query.size()));
}

Json config_to_json(const Config& config) {
  Config saved = config;
  // What `auto` came to is not written: that key is Assay's own, and read back it comes to the
  // same.
  Switch& keep = saved.settings.recording.keep_text;
  if ((keep == Switch::on) == wants_text(config)) keep = Switch::automatic;
  Json out = write_part(config_part(), &saved);
  if (config.settings.load_pattern.type != Pattern::poisson) {
    // Removed as by the reference client: it has no meaning elsewhere.
    out.find("settings")->find("load_pattern")->erase("use_legacy_loadgen_qps_metrics");
  }
  if (config.settings.timeouts) {
    // A file may have only one of the two spellings, here and in the reference client.
    out.find("settings")->erase("drain");
  }
  redact(out, config.endpoint_config.api_key);
  return out;
}

std::string config_to_yaml(const Config& config) {
  Json tree = config_to_json(config);
  keep_dollars(tree);
  const Json own = take_own_keys(config_part(), tree);
  return format("# Written by Assay {}: the config as it was run, resolved, without secrets.\n{}{}",
                version(), yaml::write(tree), write_own_lines(own));
}

}  // namespace assay::plan
