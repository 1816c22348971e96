// Redactor: finds the secrets that we know in text that others wrote, and blots them out, so that a
// server that echoes a key puts it into no report, log or store.
//
// A secret is found in the spellings that an echo may have: as it is, JSON-escaped,
// percent-encoded, base64. The first kBeginning bytes of a key count as the key: foreign text is
// cut somewhere. One pass over the text, whatever the number of secrets (Aho and Corasick, 1975).
// Immutable after construction: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Secret {
  std::string text{};
  // A key or password: its beginning is secret too. Else only the whole text is.
  bool key = true;
};

class Redactor {
 public:
  static constexpr std::size_t kBeginning = 8;
  // Shorter secrets are not looked for: they would blot out ordinary words.
  static constexpr std::size_t kShortest = 4;

  Redactor() = default;
  explicit Redactor(const std::vector<Secret>& secrets);
  bool empty() const { return nodes_.size() <= 1; }

  // The text with "<redacted>" in place of each secret.
  std::string text(std::string_view text) const;

  // Text that comes in pieces: each has '*' in place of the bytes of a secret, so that lengths stay
  // as they came. Of a key that begins in one piece and goes on in the next, at most
  // kBeginning − 1 bytes are passed on.
  using State = std::uint32_t;  // between the pieces of one text; 0 at its start
  // `scratch` holds the result where something was found; else the piece itself is returned.
  std::string_view piece(std::string_view piece, State& state, std::string& scratch) const;

 private:
  struct Node {
    std::uint32_t child = 0;    // the first; 0: none
    std::uint32_t sibling = 0;  // the next child of its parent
    std::uint32_t fail = 0;     // the longest suffix that begins a secret too
    std::uint32_t depth = 0;
    std::uint32_t found = 0;  // so many bytes up to here are secret
    char byte = 0;
  };
  void add(std::string_view spelling, std::size_t secret_from);
  void link();
  std::uint32_t child_of(std::uint32_t node, char byte) const;
  std::uint32_t step(std::uint32_t node, char byte) const;

  std::vector<Node> nodes_{Node{}};
};

}  // namespace assay
