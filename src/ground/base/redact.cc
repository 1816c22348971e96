#include "base/redact.h"

#include <algorithm>

#include "base/format.h"
#include "base/json.h"

namespace assay {
namespace {

constexpr std::string_view kRedacted = "<redacted>";

std::string percent_encoded(std::string_view text, bool upper) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    const auto byte = static_cast<unsigned char>(c);
    out += plain ? std::string(1, c) : upper ? format("%{:02X}", byte) : format("%{:02x}", byte);
  }
  return out;
}

// The base64 characters of `text` after `before` bytes of a group: only the characters that no
// neighbouring byte affects.
std::string base64_inside(std::string_view text, std::size_t before, std::string_view alphabet) {
  std::string bits;
  std::string out;
  const std::size_t skip = (6 - before * 8 % 6) % 6;
  for (const char c : text) {
    for (int bit = 7; bit >= 0; --bit) bits += (static_cast<unsigned char>(c) >> bit & 1) != 0;
  }
  for (std::size_t at = skip; at + 6 <= bits.size(); at += 6) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value * 2 + (bits[at + i] != 0 ? 1U : 0U);
    out += alphabet[value];
  }
  return out;
}

// JSON lets a writer escape the solidus.
std::string with_escaped_solidus(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '/' ? "\\/" : std::string(1, c);
  return out;
}

std::vector<std::string> spellings(std::string_view text) {
  const std::string quoted = json_quote(text);
  const std::string escaped = quoted.substr(1, quoted.size() - 2);
  std::vector<std::string> out{std::string(text), escaped, with_escaped_solidus(escaped),
                               percent_encoded(text, true), percent_encoded(text, false)};
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t before = 0; before < 3; ++before) {
    for (const std::string_view last : {"+/", "-_"}) {
      out.push_back(base64_inside(text, before, letters + std::string(last)));
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

Redactor::Redactor(const std::vector<Secret>& secrets) {
  for (const Secret& secret : secrets) {
    if (secret.text.size() < kShortest) continue;
    for (const std::string& spelling : spellings(secret.text)) {
      if (spelling.size() < kShortest) continue;
      add(spelling, secret.key ? std::min(kBeginning, spelling.size()) : spelling.size());
    }
  }
  link();
}

std::uint32_t Redactor::child_of(std::uint32_t node, char byte) const {
  std::uint32_t child = nodes_[node].child;
  while (child != 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

void Redactor::add(std::string_view spelling, std::size_t secret_from) {
  std::uint32_t node = 0;
  for (const char byte : spelling) {
    std::uint32_t child = child_of(node, byte);
    if (child == 0) {
      child = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(
          {.sibling = nodes_[node].child, .depth = nodes_[node].depth + 1, .byte = byte});
      nodes_[node].child = child;
    }
    node = child;
    if (nodes_[node].depth >= secret_from) nodes_[node].found = nodes_[node].depth;
  }
}

// Links level by level, because a node's fail node must be linked first.
void Redactor::link() {
  std::vector<std::uint32_t> queue{0};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t node = queue[at];
    for (std::uint32_t child = nodes_[node].child; child != 0; child = nodes_[child].sibling) {
      queue.push_back(child);
      if (node == 0) continue;
      Node& one = nodes_[child];
      one.fail = step(nodes_[node].fail, one.byte);
      one.found = std::max(one.found, nodes_[one.fail].found);
    }
  }
}

std::uint32_t Redactor::step(std::uint32_t node, char byte) const {
  for (;;) {
    const std::uint32_t child = child_of(node, byte);
    if (child != 0 || node == 0) return child;
    node = nodes_[node].fail;
  }
}

std::string Redactor::text(std::string_view text) const {
  State state = 0;
  std::string marks;  // '*' where a byte is secret
  for (const char byte : text) {
    state = step(state, byte);
    marks += ' ';
    const std::size_t found = std::min<std::size_t>(nodes_[state].found, marks.size());
    std::fill(marks.end() - static_cast<std::ptrdiff_t>(found), marks.end(), '*');
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (marks[i] == ' ') {
      out += text[i];
    } else if (i == 0 || marks[i - 1] == ' ') {
      out += kRedacted;
    }
  }
  return out;
}

std::string_view Redactor::piece(std::string_view piece, State& state, std::string& scratch) const {
  bool copied = false;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    state = step(state, piece[i]);
    const std::size_t found = std::min<std::size_t>(nodes_[state].found, i + 1);
    if (found == 0) continue;
    if (!copied) scratch.assign(piece);
    copied = true;
    std::fill_n(scratch.begin() + static_cast<std::ptrdiff_t>(i + 1 - found), found, '*');
  }
  return copied ? std::string_view(scratch) : piece;
}

}  // namespace assay
