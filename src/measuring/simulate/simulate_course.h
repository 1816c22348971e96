// What a serving system would do, from a model of it: a curve, the sizes that a rate needs, several
// cards at one load, two systems beside one another. `assay simulate` is the command.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "base/time.h"
#include "sim/simulate.h"
#include "simulate/suite_course.h"
#include "simulate/system_words.h"

namespace assay::simulate {

struct SimulationOptions {
  SystemWords system{};
  SuiteAsked suite{};
  std::string load{};
  std::string concurrency = "sweep";
  std::optional<double> rate{};
  std::optional<std::int64_t> queries{};
  Duration turn_around = sim::SimulateOptions{}.turn_around;
  std::string plan{};
  double price = 0;
  std::string compare{};
  std::string html{};
  std::string list{};
  bool json = false;
  std::set<std::string> given{};  // the flags that were typed
};

// Returns the exit code.
Result<int> run_simulation(SimulationOptions& options, const Talk& talk);

}  // namespace assay::simulate
