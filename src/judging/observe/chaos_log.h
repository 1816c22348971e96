// ChaosLog: what was done to the server while a run went on (plan/chaos.h), each step at its
// instant of the run's clock, as the run folder keeps it (assay/chaos.jsonl,
// docs/formats/chaos.md). A line is written as its step happens, so a run that was cut off keeps
// the steps up to then.
//
// The writing functions make one line each. Plain data; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay::observe {

inline constexpr std::string_view kChaosName = "chaos.jsonl";

enum class ChaosPart : std::uint8_t {
  begin,    // the act's command, call or signal begins
  end,      // and has ended, well or not
  undo,     // what ends the act begins
  undone,   // and has ended
  skipped,  // the act was not done
};

struct ChaosStep {
  std::uint32_t act = 0;
  ChaosPart part = ChaosPart::begin;
  Instant at{};
  std::optional<std::int64_t> exit_code{};  // of a command that ended by itself
  std::optional<std::int64_t> status{};     // of a call that was answered
  std::string output{};                     // the command's last words, the reply's first ones
  std::string error{};  // why it failed, or was not done; "" where all went well
};

struct ChaosActFacts {
  std::string name{};
  std::string what{};  // "SIGKILL to process 4711"
  Duration at{};       // as asked, from the start of the measured phase
};

struct ChaosLog {
  std::vector<ChaosActFacts> acts{};
  std::vector<ChaosStep> steps{};
  std::string trouble{};  // where the file is damaged; "" for a whole one
};

// `acts`: as the config has them, without secrets; each with "at_ns".
std::string chaos_head(std::string_view run_id, const Json& acts);
std::string chaos_line(const ChaosStep& step);

// A file that ends in the middle of a line is of a run that was cut off, and is read up to there.
Result<ChaosLog> read_chaos_log(const std::filesystem::path& path);
Result<ChaosLog> parse_chaos_log(std::string_view text);

}  // namespace assay::observe
