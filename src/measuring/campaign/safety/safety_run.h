// A safety run: prompts asked as an ordinary run, replies judged (calls of a model are ordinary
// runs too), votes joined, hazards graded. docs/formats/safety.md has the folder:
//
//   safety.json  prompts.jsonl  judges.yaml  standard.yaml      what was wanted
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
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/result.h"
#include "campaign/recorded_run.h"
#include "plan/config.h"
#include "run/run.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/judge.h"
#include "safety/standard.h"

namespace assay::campaign {

// What a safety run is to do; it does not change when the run goes on.
struct SafetyWish {
  std::filesystem::path folder{};
  std::vector<safety::Prompt> prompts{};
  safety::Standard standard{};
  safety::JudgeFile judges{};
  std::uint64_t retries = 1;
};

// Writes a new folder. Fails if it holds a safety run already.
Result<void> begin_safety(const SafetyWish& wish);
// Reads the folder of a run that was begun; fails if a file of it was changed.
Result<SafetyWish> open_safety(const std::filesystem::path& folder);
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
  Ending ending{};
};

Result<SafetyEnd> run_safety(const SafetyWish& wish, const SafetyAsked& asked,
                             const ClientOptions& client, run::Control& control);

// What the folder's records give now: the items, in the order of the prompts.
Result<std::vector<safety::Item>> derive_items(const SafetyWish& wish);
// Differences between the derived files and what the records give; empty: none.
Result<std::vector<std::string>> check_safety(const SafetyWish& wish);

}  // namespace assay::campaign
