// Act: what one party of a federated evaluation does at the hub, as data. An act names things by
// their ids and carries descriptions, digests, and the one signed release document; a prompt, a
// label, a reply, a path or an endpoint's URL has no field here. The parser takes no other field,
// so that nothing else can come along. Grammar: docs/formats/sites.md. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::sites {

// A party is an organisation in one role; its token says both.
enum class Role : std::uint8_t { benchmark_owner, data_owner, model_owner };
std::string_view to_string(Role role);
Result<Role> role_named(std::string_view name);

struct Actor {
  Role role = Role::benchmark_owner;
  std::string organisation{};
  bool operator==(const Actor&) const = default;
};

enum class ActKind : std::uint8_t {
  add_benchmark,
  add_dataset,
  add_model,
  prepare,    // how far the preparation of a dataset is, as counts of each step
  associate,  // asks for an association of a dataset or a model with a benchmark
  approve,
  reject,  // before an approval or after it
  order,   // a run of a benchmark, with a dataset and a model
  take,    // from here on the data's owner acts, on one run
  refuse,
  fail,
  hold,      // the result exists and is at the site
  review,    // a person has seen the bytes that would leave
  release,   // those bytes, signed
  withhold,  // the result stays at the site for good
};
std::string_view to_string(ActKind kind);
Result<ActKind> act_kind_named(std::string_view name);

// What a benchmark asks of a site. Every field has a limit, and none is a path, an address or code.
struct Measurement {
  std::vector<std::int64_t> concurrency{};  // a run at each level, in this order
  std::int64_t samples = 0;                 // queries of each level; of a curve none, its rules do
  std::int64_t max_output_tokens = 0;
  bool curve = false;                    // the levels are the points of one curve
  std::string scorer{};                  // "": speed alone
  std::optional<double> accuracy_min{};  // a gate: 0 to 1
  std::string safety_min{};              // a gate: a grade, of the site's safety run at each level
  std::vector<std::string> fields{};     // of the release document that the benchmark wants
  bool operator==(const Measurement&) const = default;
};

// Instances of one step of a pipeline, by what became of them.
struct StepCounts {
  std::int64_t total = 0;
  std::int64_t done = 0;
  std::int64_t running = 0;
  std::int64_t waiting = 0;  // for a person, or a file
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  bool operator==(const StepCounts&) const = default;
};

// Fields that a kind does not have are empty.
struct Act {
  ActKind kind = ActKind::associate;
  std::string key{};  // chosen by the sender: the same act with the same key counts once
  std::string id{};   // of the thing that it makes, or the run that it moves
  std::string benchmark{};
  std::string dataset{};
  std::string model{};
  std::string description{};
  std::string sha256{};             // of a dataset
  std::int64_t rows = 0;            // of a dataset
  std::string public_key{};         // of a dataset's owner, PEM
  Measurement measurement{};        // of a benchmark
  std::vector<StepCounts> steps{};  // of prepare, in the pipeline's order, without their names
  std::string reason{};             // of refuse and fail: a word of kReasons
  std::string document{};           // of release: the bytes that were reviewed
  std::string signature{};          // of release: Ed25519 over them, 128 hex digits
};

// Why a site does not do a run, as a word, because free text could carry data.
bool is_reason(std::string_view word);

inline constexpr std::size_t kActBytesMax = 64U << 10;
inline constexpr std::size_t kDocumentBytesMax = 32U << 10;

// A whole JSON text. Errors name the field.
Result<Act> parse_act(std::string_view text);
// parse_act(to_json(act).dump()) is the act again.
Json to_json(const Act& act);
Json to_json(const Measurement& measurement);
Json to_json(const std::vector<StepCounts>& steps);
Result<std::vector<StepCounts>> parse_steps(const Json& json);
// The grades that safety_min may name, from the lowest: 1 is the first.
std::span<const std::string_view> safety_grades();
Result<Measurement> parse_measurement(const Json& json);

}  // namespace assay::sites
