// Series: every inference of a client run in the order in which it is asked, one row of a dataset
// each. A prompt is asked `warmups` + `iterations` times in a row; of an agent's conversation, each
// iteration asks one warm-up and then each turn, with the recorded answers before it as history.
//
// An Item is what a mean is taken over: a prompt, or a turn. What is sent begins with a salt of its
// own, where a seed is given: a server that keeps prefixes would else answer all but the first, and
// a conversation's later turns, from its cache. MLPerf Client's own back ends forget everything
// after each inference. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "desk/prompt_file.h"

namespace assay::desk {

struct Item {
  std::string file{};  // the prompt file's name
  std::string category{};
  std::string group{};
  std::uint32_t number = 0;  // of the prompt in its file, or of the turn; from 1
  // An agent's turn has what its recorded answer has.
  std::int64_t recorded_tokens = -1;  // -1: not counted
  std::optional<double> tools_s{};    // its tool calls, the mean over the iterations
  std::string tools_why{};            // a call failed
  bool operator==(const Item&) const = default;
};

struct Inference {
  std::uint32_t item = 0;  // index of Series::items; of a warm-up, an item that it warms up
  bool warmup = false;
  bool first = false;  // begins a set of inferences; no delay stands before it
  bool operator==(const Inference&) const = default;
};

struct SeriesSettings {
  std::uint32_t iterations = 3;
  std::uint32_t warmups = 1;  // an agent's conversations have exactly one, whatever this is
  bool agentic = false;
  std::optional<std::uint64_t> salt_seed{};
};

struct Series {
  std::vector<Item> items{};
  std::vector<Inference> inferences{};  // one for each row
  std::vector<Json> rows{};             // of a dataset: messages, max_tokens, …
  Sampling sampling{};
  bool agentic = false;
};

// Fails where the files differ in their sampling, or a conversation is not [warm-up, question,
// recorded answer, question, recorded answer, …].
Result<Series> make_series(const std::vector<PromptFile>& files, const SeriesSettings& settings);

// What a log must keep of a series, so that its figures follow from the log alone; and back.
Json series_facts(const Series& series);
Result<Series> series_from(const Json& facts);  // without rows

}  // namespace assay::desk
