// A recorded run or curve, shown again: the figures, other tools' definitions and formats, the
// truth of a known endpoint, why the slowest queries were slow. `assay report` is its command.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/gate.h"
#include "campaign/safety/asked_gate.h"

namespace assay::campaign {

struct ReportOptions {
  std::string folder{};
  std::string given{};  // as the user named it
  std::string html{};
  std::string events_jsonl{};
  std::string definitions{};
  std::string format{};
  std::string table = "events";
  std::string out{};
  std::string truth{};
  std::string tokenizer{};
  bool json = false;
  bool why = false;
  bool publish = false;
  bool markdown = false;
  std::optional<double> price{};
  std::string power{};
  std::string slo{};
};

// `gate` and `safety` are understood already. Returns the exit code.
Result<int> show_report(ReportOptions options, Gate& gate, SafetyGate& safety, const Talk& talk);

}  // namespace assay::campaign
