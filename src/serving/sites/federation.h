// Federation: the state machine of a federated evaluation: benchmarks, datasets, models,
// associations that both sides approve, and runs whose results stay at the site until its owner
// releases them. The state is the fold of the accepted acts, so the history is the whole truth.
// docs/formats/sites.md has the rules as tables; federation_test.cc compares every reachable state
// with an independent model. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sites/act.h"

namespace assay::sites {

struct Benchmark {
  std::string owner{};
  std::string description{};
  Measurement measurement{};
};

struct Dataset {
  std::string owner{};
  std::string description{};
  std::string sha256{};
  std::int64_t rows = 0;
  std::string public_key{};
};

// A dataset that is being made; it may not be registered yet.
struct Preparation {
  std::string owner{};
  std::vector<StepCounts> steps{};
};

struct Model {
  std::string owner{};
  std::string description{};
};

enum class Approval : std::uint8_t { pending, approved, rejected };
std::string_view to_string(Approval approval);

struct Association {
  std::string benchmark{};
  std::string dataset{};  // or
  std::string model{};
  Actor asked_by{};
  Approval approval = Approval::pending;
};

enum class RunState : std::uint8_t {
  ordered,
  taken,
  held,
  reviewed,
  released,
  refused,  // this and the following are ends
  failed,
  withheld,
};
std::string_view to_string(RunState state);

struct Run {
  std::string benchmark{};
  std::string dataset{};
  std::string model{};
  RunState state = RunState::ordered;
  std::string reason{};
  std::string document{};
  std::string signature{};
};

// The state after an act of the data's owner on a run; an Error where it cannot be done in this
// state. The hub and the site use this one function.
Result<RunState> next_state(RunState now, ActKind act);

struct Federation {
  std::map<std::string, Benchmark, std::less<>> benchmarks{};
  std::map<std::string, Dataset, std::less<>> datasets{};
  std::map<std::string, Preparation, std::less<>> preparations{};  // by the dataset's id
  std::map<std::string, Model, std::less<>> models{};
  std::map<std::string, Association, std::less<>> associations{};  // by association_id()
  std::map<std::string, Run, std::less<>> runs{};
  std::map<std::string, std::string, std::less<>> keys{};  // of acts: a digest of actor and act
};

// "BENCHMARK/dataset/ID" or "BENCHMARK/model/ID".
std::string association_id(const Act& act);

enum class Effect : std::uint8_t {
  done,
  repeated,  // the same act of the same actor with the same key was accepted before
};
// Applies the act, or returns why it cannot be done and leaves the state as it is: Code::refused
// for this actor or in this state, not_found for an id, invalid for a release document that is not
// of the run or whose signature is wrong.
Result<Effect> apply(Federation& state, const Actor& actor, const Act& act);

// What this party may know: the benchmarks, datasets and models; associations and runs only of what
// it owns. For `nullptr` all.
Json to_json(const Federation& state, const Actor* reader);

}  // namespace assay::sites
