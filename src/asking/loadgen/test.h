// Test: a LoadGen test as a run's record keeps it: what was asked, by whose settings. Judgement:
// what the recorded samples of it are worth: VALID or INVALID with the reasons, the suite's metric,
// and mlperf_log_summary.txt. The judgement follows from the record alone, so that a report says it
// again. Whatever it says, it is no result of a suite: those are the suite's to give.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "loadgen/settings.h"
#include "loadgen/verdict.h"

namespace assay::loadgen {

// An accuracy phase of the run: how much it asks, each row and each repeat of it, in order.
struct AccuracyRows {
  std::uint16_t phase = 0;  // index into the plan's phases
  std::uint64_t samples = 0;
};

struct Test {
  std::string name{};  // the scenario's: single_stream, multi_stream, server, interactive, offline
  std::string edition{};  // whose built-in file; "none": no such file
  std::string model = "*";
  std::string sut_name{};
  std::string user_conf{};  // the user's and the audit's files as they stood; may be empty
  std::string audit_conf{};
  TestSettings requested{};
  SampleLibrary library{};
  std::uint64_t generated = 0;      // queries that the settings give
  std::uint32_t in_flight_max = 0;  // Offline: the client's cap; 0: none
  std::string library_name{};       // of the performance dataset
  std::vector<AccuracyRows> accuracy{};

  Json to_json() const;
  static Result<Test> from_json(const Json& json);
};

// One sample of the performance phase.
struct MeasuredSample {
  std::uint32_t index = 0;   // of its query in the plan
  std::uint32_t sample = 0;  // row of the dataset
  bool ok = false;
  // From the test's start, ns. `due` is when it could be issued in SingleStream and MultiStream.
  std::int64_t due = 0;
  std::int64_t issued = 0;
  std::int64_t first_token = -1;  // -1: the reply was not streamed
  std::int64_t done = 0;
  std::int64_t tokens = -1;  // -1: unknown
};

// The number by which the suite ranks a scenario.
struct SuiteMetric {
  std::string name{};   // "early_stopping_latency_ss", as in the detail log
  std::string label{};  // "90.0th percentile latency, early stopping estimate"
  double value = 0;
  std::string unit{};  // "ms", "samples/s", "tokens/s"
};

struct Judgement {
  Test test{};
  EffectiveSettings settings{};
  Recorded recorded{};
  std::optional<Verdict> verdict{};  // nullopt: no sample was completed
  std::optional<SuiteMetric> metric{};
  std::uint64_t failed = 0;
  // What LoadGen logs as errors of a run, once each.
  std::vector<std::string> errors{};

  bool valid() const { return verdict && verdict->valid(); }
  std::string reasons() const;
  // For people: name and text of each line, the verdict first.
  std::vector<std::pair<std::string, std::string>> lines() const;
  std::string summary() const;  // the whole of mlperf_log_summary.txt
  Json to_json() const;         // without the samples
};

// How the run ended, beyond its samples.
struct TestEnd {
  bool complete = true;
  std::string why{};  // of a run that is not
};

// `samples` in any order. Fails where the record's settings give no test.
Result<Judgement> judge(const Test& test, std::vector<MeasuredSample> samples, const TestEnd& end);

}  // namespace assay::loadgen
