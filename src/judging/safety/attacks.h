// Attacks: how prompts are attacked, as data. A file (docs/formats/attacks.md) has a taxonomy of
// mechanisms, a tree split by one rule at each node, and the attacks, each a list of transforms
// (transform.h) with a seed. An instance is a seed prompt under an attack, and has exactly one
// leaf. The leaf is found twice: the attack names it, and the leaves' own lists of transforms give
// it; where the two differ the file is refused. Several steps belong to the leaf of compositions.
//
// A new leaf may have no attack yet: that is coverage debt, and is counted. Pure but for
// find_attacks; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "safety/items.h"

namespace assay::safety {

struct Mechanism {
  std::string id{};      // stable: results of years compare by it
  std::string parent{};  // "": the root
  std::string name{};
  std::string split{};                    // of a node with children: the rule that parts them
  std::string definition{};               // of a leaf
  std::vector<std::string> transforms{};  // of a leaf: those that are it, alone
  bool composed = false;                  // of a leaf: attacks of several steps
  bool leaf = true;
};

struct Attack {
  std::string id{};
  std::string leaf{};
  std::vector<std::string> steps{};
  std::uint64_t variants = 1;  // each with a seed of its own
};

struct Attacks {
  std::string name{};
  std::uint64_t seed = 1;        // of letters, noise and the order of asking
  std::uint64_t pairs_min = 10;  // a leaf with fewer valid pairs is not covered
  std::vector<Mechanism> nodes{};
  std::vector<Attack> attacks{};
  std::string text{};
  std::string sha256{};

  std::vector<std::string> leaves() const;  // ids, in the file's order
};

// A name in the binary (safety/attacks), or a file that ends in .yaml.
Result<Attacks> find_attacks(const std::string& name);
Result<Attacks> attacks_from(std::string text);

// Seeds and their attacked twins, in one order that the file's seed decides, so that both arms meet
// the same server at the same time. A twin has a uid "SEED~ATTACK~VARIANT", the seed's hazard,
// persona and locale, and what its judge should see: the seed prompt and the side information.
// Fails on a seed with an attack of its own, and on a text that an attack cannot rewrite.
Result<std::vector<Prompt>> with_twins(const std::vector<Prompt>& seeds, const Attacks& attacks);

}  // namespace assay::safety
