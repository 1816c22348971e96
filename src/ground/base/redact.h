// Redactor: finds known secrets in text from others and replaces them, so that a key which a server
// echoes enters no report, log or store.
//
// Finds a secret in the spellings of an echo: as it is, JSON-escaped, percent-encoded, base64. The
// first kBeginning bytes of a key count as the key, because foreign text may be cut anywhere. One
// pass over the text for any number of secrets (Aho and Corasick, 1975). Immutable after
// construction: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Secret {
  std::string text{};
  // true: a key or password, whose beginning is secret too. false: only the whole text is.
  bool key = true;
};

class Redactor {
 public:
  static constexpr std::size_t kBeginning = 8;
  // Shorter secrets are not searched for: they would replace ordinary words.
  static constexpr std::size_t kShortest = 4;

  Redactor() = default;
  explicit Redactor(const std::vector<Secret>& secrets);
  bool empty() const { return nodes_.size() <= 1; }

  // The text with "<redacted>" in place of each secret.
  std::string text(std::string_view text) const;

  // Redacts text that comes in pieces: puts '*' in place of each byte of a secret, so that lengths
  // do not change. Where a key begins in one piece and goes on in the next, at most kBeginning − 1
  // of its bytes are passed on.
  using State = std::uint32_t;  // between the pieces of one text; 0 at its start
  // `scratch` holds the result if a secret was found; else the piece itself is returned.
  std::string_view piece(std::string_view piece, State& state, std::string& scratch) const;

 private:
  struct Node {
    std::uint32_t child = 0;    // the first; 0: none
    std::uint32_t sibling = 0;  // the next child of its parent
    std::uint32_t fail = 0;     // the longest suffix that begins a secret too
    std::uint32_t depth = 0;
    std::uint32_t found = 0;  // length of the secret that ends here
    char byte = 0;
  };
  void add(std::string_view spelling, std::size_t secret_from);
  void link();
  std::uint32_t child_of(std::uint32_t node, char byte) const;
  std::uint32_t step(std::uint32_t node, char byte) const;

  std::vector<Node> nodes_{Node{}};
};

}  // namespace assay
