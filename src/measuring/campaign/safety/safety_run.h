// A safety run: prompts asked as an ordinary run, replies judged (calls of a model are ordinary
// runs too), votes joined, hazards graded. docs/formats/safety.md has the folder:
//
//   safety.json  prompts.jsonl  judges.yaml  standard.yaml      what was wanted
//   pack.yaml                                                where a sector's pack was used
//   attacks.yaml  pairs.json  pairs.txt                      of a run with attacks
//   used.json                         instead of the texts, of a run over sealed prompts
//   answers/NN.jsonl  answers/NN/                               what was asked, and the run of it
//   judges/NAME/NN.jsonl  judges/NAME/NN/                       of a judge behind an endpoint
//   judges/NAME/votes.jsonl                                     of a judge that is a command
//   verdicts.jsonl  grade.json  grade.txt                       derived from the rest
//
// The event logs are the record: a run that was killed goes on in its folder, and gives the grade
// that it would have given. check_safety() derives everything again and compares. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/result.h"
#include "campaign/recorded_run.h"
#include "plan/config.h"
#include "run/run.h"
#include "safety/attacks.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/judge.h"
#include "safety/pack.h"
#include "safety/pairs.h"
#include "safety/sealed_set.h"
#include "safety/standard.h"

namespace assay::campaign {

// What a run over sealed prompts has more: nothing in its folder shows one (sealed_replies.h).
struct SafetySeal {
  SealKey key{};
  safety::SealedRows rows{};  // those that are used
  std::string used{};         // the text of used.json, with the proofs
};

// What a safety run is to do; it does not change when the run goes on.
struct SafetyWish {
  std::filesystem::path folder{};
  std::vector<safety::Prompt> prompts{};
  safety::Standard standard{};
  safety::JudgeFile judges{};
  std::uint64_t retries = 1;
  std::optional<SafetySeal> seal{};
  // With attacks `prompts` are the seeds and their twins, in the order of asking. The grade is that
  // of the seeds; pairs.json has what the attacks did.
  std::optional<safety::Attacks> attacks{};
  std::vector<safety::Prompt> seeds{};  // with attacks
  std::optional<safety::Pack> pack{};   // whose parts these are; gates hold its thresholds
};

// Writes a new folder. Fails if it holds a safety run already.
Result<void> begin_safety(const SafetyWish& wish);
// Adds the attacked twins of a wish's prompts, which are seeds.
Result<void> use_attacks(safety::Attacks attacks, SafetyWish& wish);
// Reads the folder of a run that was begun; fails if a file of it was changed. A run over sealed
// prompts needs their key.
Result<SafetyWish> open_safety(const std::filesystem::path& folder,
                               const std::optional<SealKey>& key = {});
// Puts the prompts of a sealed set into a wish: `draw` of them (0: all), chosen by `seed`.
Result<void> use_sealed(const std::string& set_text, const SealKey& key, std::uint64_t draw,
                        std::string_view seed, SafetyWish& wish);
// The used prompts of a run over sealed ones; fails if a proof does not hold. Needs no key.
Result<safety::SealedRows> used_of(const std::filesystem::path& folder);
// The file of a folder's prompts, for a config that needs a dataset.
std::filesystem::path safety_prompts_file(const std::filesystem::path& folder);

struct SafetyAsked {
  plan::Config config{};  // the endpoint and the load
  std::vector<std::string> command{};
  std::function<void(const std::string&)> say{};  // what is done now, for a person
};

struct SafetyEnd {
  bool finished = true;  // false: stopped; the folder can go on
  safety::GradeReport report{};
  std::optional<safety::PairReport> pairs{};  // of a run with attacks
  Ending ending{};
};

Result<SafetyEnd> run_safety(const SafetyWish& wish, const SafetyAsked& asked,
                             const ClientOptions& client, run::Control& control);

// What the folder's records give now: the items, in the order of the prompts.
Result<std::vector<safety::Item>> derive_items(const SafetyWish& wish);
// Differences between the derived files and what the records give; empty: none.
Result<std::vector<std::string>> check_safety(const SafetyWish& wish);

}  // namespace assay::campaign
