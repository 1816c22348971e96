// Sealed set: prompts that only the key's holder can read, and that are what was committed.
// docs/formats/sealed_set.md has the files. Each prompt is in a box of its own (base/aead.h); what
// is public (uid, hazard, persona, locale, a salted digest of the prompt, a digest of the box) is a
// leaf of a Merkle tree (base/merkle.h). The header has the tree's root, and its own digest is the
// set's commitment: 64 hex digits to publish before the first run.
//
// A run keeps the rows that it used, each with its path to the root. So any reader can check later
// that these prompts, and no others, are of the committed set, without seeing one. Pure; any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/aead.h"
#include "base/json.h"
#include "base/result.h"
#include "safety/items.h"

namespace assay::safety {

struct SealedRow {
  std::size_t index = 0;  // in the set
  Json leaf{};            // what is public
  std::string box{};      // base64
};

// A whole set, or the rows of it that a run used.
struct SealedRows {
  std::string name{};
  std::size_t prompts = 0;  // of the whole set
  std::string root{};
  std::string key_id{};
  std::string commitment{};
  std::vector<SealedRow> rows{};

  Json header() const;  // with the commitment
};

// A set's file: the header and a line for each prompt. REQUIRES: a prompt; plain ids.
std::string seal_prompts(const std::vector<Prompt>& prompts, const std::string& name,
                         const SealKey& key);
// Everything but what is in the boxes is checked: any changed byte is Code::corrupt.
Result<SealedRows> read_sealed(std::string_view text);
bool is_sealed(std::string_view text);

// `count` rows, chosen by the commitment and `seed` alone, so that the choice can be checked. All
// rows in their order where `count` is 0 or the set's size.
std::vector<std::size_t> draw_rows(const SealedRows& set, std::size_t count, std::string_view seed);

// What a run keeps (used.json): the header, the draw, and each used row with its path.
// REQUIRES: `set` from read_sealed(); indices ascend.
Json used_rows(const SealedRows& set, std::size_t count, std::string_view seed);
// Checks every path, and that the rows are those of the draw.
Result<SealedRows> read_used(const Json& used);

// The prompts. Code::corrupt if a box is of another key or was changed, or holds another prompt
// than the committed one.
Result<std::vector<Prompt>> open_rows(const SealedRows& rows, const SealKey& key);
// Without their texts: uid, hazard, persona, locale, cluster.
std::vector<Prompt> public_prompts(const SealedRows& rows);

}  // namespace assay::safety
