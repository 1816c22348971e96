// The schedule of a run whose traffic classes have rates of their own (dataset/mix.h): each class
// draws its arrivals by its own law and seed, and the schedules are merged. So a class comes at the
// same instants, with the same prompts, whatever stands beside it; a class of rate 0 keeps its rows
// and never comes.
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
#include "plan/config.h"

namespace assay::plan {

// The error says what is allowed.
Result<void> check_law(std::string_view law);

// The performance dataset's classes, where one of them has a rate; else null.
const std::vector<std::string>* classes_with_rates(const Config& config);

struct ClassSchedule {
  std::vector<Duration> at{};         // from the phase's start, ascending
  std::vector<std::uint32_t> rows{};  // whose query each is: a row of the class
};

// `queries` of them; with 0 those due before `time`. A class takes its rows of a mix of `rows` rows
// in order, again and again. Fails where a class that comes has no row, all rates are 0, or there
// would be more than `most`. REQUIRES: every class has a rate and a valid law.
Result<ClassSchedule> class_schedule(const std::vector<dataset::SyntheticClass>& classes,
                                     std::uint32_t rows, std::uint64_t seed, std::uint64_t queries,
                                     Duration time, std::uint64_t most);

}  // namespace assay::plan
