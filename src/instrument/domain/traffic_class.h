// Traffic classes: one run's queries as several kinds of traffic, each with its share, its limits
// and its own figures. Which class a query has follows from its row alone, so the plan, the
// recording and every later reading agree without a table: class_of() spreads the classes over the
// rows as evenly as their shares allow.
//
// The mix is a fact of the run (RunInfo::facts, kClassesFact). Plain data; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay {

inline constexpr std::string_view kClassesFact = "classes";
inline constexpr std::size_t kClassesMax = 64;

// What a reply of the class must keep: one of "ttft", "tpot", "latency".
struct ClassLimit {
  std::string series{};
  Duration most{};
};

struct TrafficClass {
  std::string name{};
  double share = 1;   // of the rows, against the sum of all shares
  std::string slo{};  // as the user wrote it: "ttft<=500ms&tpot<=20ms"; "" for none
  std::vector<ClassLimit> limits{};
};

using TrafficMix = std::vector<TrafficClass>;

// "ttft<=500ms&tpot<=20ms". The error says what is allowed.
Result<std::vector<ClassLimit>> parse_class_limits(std::string_view text);

// REQUIRES: the mix is not empty. An index into it.
std::size_t class_of(const TrafficMix& mix, std::uint32_t row);

Json to_json(const TrafficMix& mix);
// From a run's facts; empty for a run without classes.
Result<TrafficMix> mix_from_facts(const Json& facts);

}  // namespace assay
