// The load of a run whose traffic classes have loads of their own (dataset/mix.h). A class with a
// rate draws its arrivals by its own law and seed, and the schedules are merged. So it comes at the
// same instants, with the same prompts, whatever stands beside it. A class with a concurrency is a
// closed loop of that many users (domain/plan.h, UserLoop): it asks the same prompts in the same
// order, as fast as it is answered. A class of rate or concurrency 0 keeps its rows and never
// comes.
//
//   poisson    exponential gaps, as arrivals.h has them
//   constant   equal gaps
//   gamma/K    gamma gaps of shape K: below 1 burstier than Poisson
//   burst/N    N queries at one instant; bursts come as a Poisson process of rate / N
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "dataset/dataset.h"
#include "domain/plan.h"
#include "plan/config.h"

namespace assay::plan {

// The error says what is allowed.
Result<void> check_law(std::string_view law);

// The performance dataset's classes, where one of them has a rate or a concurrency; else null.
const std::vector<std::string>* classes_with_loads(const Config& config);

struct ClassSchedule {
  std::vector<Duration> at{};         // from the phase's start, ascending
  std::vector<std::uint32_t> rows{};  // whose query each is: a row of the class
  std::vector<UserLoop> loops{};      // of the classes that have a concurrency
};

// `queries` arrivals at most; with 0 those due before `time`. A class takes its rows of a mix of
// `rows` rows in order, again and again. Fails where a class that comes has no row, all loads are
// 0, or there would be more than `most`. REQUIRES: every class has a concurrency, or a rate and a
// valid law.
Result<ClassSchedule> class_schedule(const std::vector<dataset::SyntheticClass>& classes,
                                     std::uint32_t rows, std::uint64_t seed, std::uint64_t queries,
                                     Duration time, std::uint64_t most);

}  // namespace assay::plan
