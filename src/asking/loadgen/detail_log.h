// The lines of mlperf_log_detail.txt, in the stock library's order and with its names, units and
// oddities: a text is not escaped, decimals have six digits, "result_token_throughput" divides by
// nanoseconds. docs/formats/loadgen_logs.md has the grammar.
//
// A test in the process writes each line when it comes to it (sut/log_files.h). The log of a
// recorded test over a network is made from its judgement. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "loadgen/settings.h"
#include "loadgen/test.h"
#include "loadgen/verdict.h"

namespace assay::loadgen {

enum class Severity : std::uint8_t { plain, warning, error };

// A value as the log has it.
std::string detail_value(bool value);
std::string detail_value(double value);
std::string detail_value(std::uint64_t value);
std::string detail_value(std::int64_t value);
std::string detail_value(int value);
std::string detail_value(std::string_view value);
std::string detail_value(const char* value);
std::string detail_value(const std::vector<std::uint64_t>& value);

struct DetailLine {
  std::string_view key{};
  std::string_view value{};   // as detail_value() makes it
  std::int64_t since_ns = 0;  // since the test began
  Severity severity = Severity::plain;
  int pid = 0;
  std::uint64_t thread = 0;
};
std::string detail_line(const DetailLine& line);

// Local time, as test_datetime has it; and UTC with milliseconds, as power_begin has it.
std::string local_time(WallTime at);
std::string power_time(WallTime at);

// Takes the lines of one part; the values are as detail_value() makes them.
using SayDetail = std::function<void(std::string_view key, const std::string& value)>;

// Settings that only a system under test in the process has; LoadGen's defaults.
struct ProcessSettings {
  int find_peak_decimals = 1;
  double find_peak_step = 1;
  std::uint64_t issue_threads = 0;
};

// The build, as loadgen_*.
void say_version(const SayDetail& say);
// requested_* and effective_*.
void say_settings(const EffectiveSettings& settings, const ProcessSettings& process,
                  const SayDetail& say);
// result_* and early_stopping_*, without num_errors.
void say_result(const EffectiveSettings& settings, const Recorded& recorded, const Verdict& verdict,
                const SayDetail& say);

// The whole log of a recorded performance test, and of a recorded accuracy phase. `began`: when its
// phase did; the phase's last completion was `lasted_ns` later. `accuracy`: what its samples were.
struct LoggedPhase {
  std::string library{};  // the dataset's name
  WallTime began{};
  std::int64_t lasted_ns = 0;
  std::uint64_t failed = 0;
  std::string trouble{};  // why there is no accuracy log; "" where there is one
};
Result<std::string> performance_log(const Judgement& judged, const LoggedPhase& phase);
// `samples`: in the order in which they were asked.
Result<std::string> accuracy_log(const Test& test, const LoggedPhase& phase,
                                 const std::vector<std::uint64_t>& samples);

}  // namespace assay::loadgen
