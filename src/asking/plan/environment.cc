#include "plan/environment.h"

#include <cstdlib>

#include "base/format.h"

namespace assay::plan {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

std::size_t name_length(std::string_view text) {
  if (text.empty() || !begins_name(text[0])) return 0;
  std::size_t n = 1;
  while (n < text.size() && in_name(text[n])) ++n;
  return n;
}

// A reference: its value, and its length in the text.
struct Reference {
  std::string_view name{};
  std::optional<std::string_view> fallback{};
  std::size_t length = 0;
};

// Returns nullopt if this '$' is not a reference.
std::optional<Reference> reference_at(std::string_view text) {
  const std::string_view after = text.substr(1);
  if (!after.starts_with('{')) {
    const std::size_t n = name_length(after);
    if (n == 0) return std::nullopt;
    return Reference{after.substr(0, n), std::nullopt, n + 1};
  }
  const std::string_view inside = after.substr(1);
  const std::size_t n = name_length(inside);
  if (n == 0) return std::nullopt;
  const std::string_view rest = inside.substr(n);
  if (rest.starts_with('}')) return Reference{inside.substr(0, n), std::nullopt, n + 3};
  const std::size_t end = rest.find('}');
  if (!rest.starts_with(":-") || end == std::string_view::npos) return std::nullopt;
  return Reference{inside.substr(0, n), rest.substr(2, end - 2), n + end + 3};
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

Result<std::string> expand(std::string_view text, const Environment& environment) {
  std::string out;
  for (;;) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) return out;
    text.remove_prefix(dollar);
    if (text.starts_with("$$")) {
      out += '$';
      text.remove_prefix(2);
      continue;
    }
    const auto reference = reference_at(text);
    if (!reference) {
      out += '$';
      text.remove_prefix(1);
      continue;
    }
    const auto value = environment(std::string(reference->name));
    if (value) {
      out += *value;
    } else if (reference->fallback) {
      out += *reference->fallback;
    } else {
      return invalid(
          format("the environment variable {0} is not set; set it, or write "
                 "${{{0}:-default}}, or $$ for a dollar sign",
                 reference->name));
    }
    text.remove_prefix(reference->length);
  }
}

}  // namespace assay::plan
