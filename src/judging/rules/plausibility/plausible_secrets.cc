// Secrets anywhere in the tree: keys of known services by their form, private keys, and files that
// exist to hold secrets. What is found is never repeated: reports are shared more freely than
// trees.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretFileMax = std::size_t{4} << 20;
constexpr std::size_t kSecretFilesMax = 20'000;
constexpr std::size_t kSecretFindingsMax = 20;

struct KeyForm {
  std::string_view prefix{};
  std::size_t least = 0;  // characters after the prefix
  std::string_view what{};
};
constexpr std::array kKeyForms{
    KeyForm{"hf_", 30, "a Hugging Face token"},
    KeyForm{"sk-", 32, "an API key"},
    KeyForm{"nvapi-", 40, "an NVIDIA API key"},
    KeyForm{"ghp_", 36, "a GitHub token"},
    KeyForm{"github_pat_", 40, "a GitHub token"},
    KeyForm{"glpat-", 20, "a GitLab token"},
    KeyForm{"AKIA", 16, "an AWS key"},
    KeyForm{"AIza", 35, "a Google API key"},
    KeyForm{"xoxb-", 20, "a Slack token"},
    KeyForm{"mlc_", 24, "an MLCommons key"},
};

bool in_key(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

// Words (mlc_estimated_power_of_a_node) and blanks to fill in (hf_xxxxxxxx…) are no keys.
bool is_random(std::string_view key) {
  std::array<bool, 256> seen{};
  int distinct = 0;
  bool digit = false;
  for (const char c : key) {
    digit = digit || (c >= '0' && c <= '9');
    bool& one = seen[static_cast<unsigned char>(c)];
    distinct += one ? 0 : 1;
    one = true;
  }
  constexpr int kDistinctMin = 8;
  return digit && distinct >= kDistinctMin;
}

// What a line of text has in it; "" if nothing.
std::string_view secret_in(std::string_view line) {
  if (line.find("-----BEGIN ") != std::string_view::npos &&
      line.find("PRIVATE KEY-----") != std::string_view::npos) {
    return "a private key";
  }
  for (const KeyForm& form : kKeyForms) {
    for (std::size_t at = line.find(form.prefix); at != std::string_view::npos;
         at = line.find(form.prefix, at + 1)) {
      if (at > 0 && in_key(line[at - 1])) continue;
      std::size_t end = at + form.prefix.size();
      while (end < line.size() && in_key(line[end])) ++end;
      const std::string_view key =
          line.substr(at + form.prefix.size(), end - at - form.prefix.size());
      if (key.size() >= form.least && is_random(key)) return form.what;
    }
  }
  return {};
}

// "HF_TOKEN=…" of a file such as .env.
bool assigns_secret(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos || line.starts_with('#')) return false;
  const std::string name = lower(trim(line.substr(0, equals)));
  const std::string_view value = trim(line.substr(equals + 1));
  const bool named = std::ranges::any_of(
      std::array<std::string_view, 5>{"key", "token", "secret", "password", "credential"},
      [&name](std::string_view word) { return name.find(word) != std::string::npos; });
  return named && value.size() >= 8 && !value.starts_with('$') && !value.starts_with('<');
}

void search_file(const fs::path& root, const fs::path& file, Out& out, std::size_t& findings) {
  const auto text = read_file(file, kSecretFileMax);
  if (!text || text->find('\0') != std::string::npos) return;
  const std::string name = file.filename().string();
  const bool environment = name.starts_with(".env") || name.ends_with(".env");
  int number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    ++number;
    const std::string_view what = secret_in(line);
    const bool assigned = environment && assigns_secret(line);
    if (what.empty() && !assigned) continue;
    out.error({file.lexically_relative(root).generic_string(), number},
              what.empty() ? "a secret of the environment" : std::string(what), "<redacted>");
    if (++findings >= kSecretFindingsMax) return;
  }
}

void check_plausible_secrets(const Scope& at, Out& out) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(at.tree.root, error), end; !error && it != end;
       it.increment(error)) {
    if (fs::is_symlink(it->symlink_status(error))) continue;  // tree-readable reports it
    if (it->is_regular_file(error) && it->file_size(error) <= kSecretFileMax) {
      files.push_back(it->path());
    }
    if (files.size() >= kSecretFilesMax) break;
  }
  std::ranges::sort(files);
  std::size_t findings = 0;
  for (const fs::path& file : files) {
    if (findings < kSecretFindingsMax) search_file(at.tree.root, file, out, findings);
  }
}

}  // namespace

Rule plausible_secrets() {
  return {.id = "plausible-secrets",
          .level = Level::tree,
          .clause = "Assay's own: secrets",
          .demand = "no file of the tree holds a key, a token or a private key",
          .fix = "take it out, and revoke it: whoever has the tree has it",
          .check = check_plausible_secrets};
}

}  // namespace assay::rules
