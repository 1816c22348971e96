#include <algorithm>
#include <array>

#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

bool names_a_secret(std::string_view key) {
  static constexpr std::array<std::string_view, 8> kNames{"api_key",       "apikey",      "token",
                                                          "hf_token",      "password",    "secret",
                                                          "authorization", "access_token"};
  return std::ranges::count(kNames, lower(key)) > 0;
}

void search(const Document& config, const Json& value, const std::string& pointer, Out& out) {
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    search(config, value.items()[i], pointer_to(pointer, i), out);
  }
  for (const auto& [name, inner] : value.members()) {
    const std::string at = pointer_to(pointer, name);
    const std::string_view text = inner.as_string();
    // Leave the value out: reports are shared more freely than trees.
    if (names_a_secret(name) && !text.empty() && text != "<redacted>") {
      out.error(config.place(at), format("{} is given", spoken(at)), "<redacted>");
    }
    search(config, inner, at, out);
  }
}

void check_secrets_redacted(const Scope& at, Out& out) {
  if (!at.point->config.good()) return out.not_applicable();
  search(at.point->config, at.point->config.root(), "", out);
}

}  // namespace

Rule secrets_redacted() {
  return {.id = "secrets-redacted",
          .clause = "§8.1: Submission completeness",
          .demand = "no key or token stands in config.yaml",
          .fix = "write <redacted> instead, and revoke the key: whoever has the tree has it",
          .check = check_secrets_redacted};
}

}  // namespace assay::rules
