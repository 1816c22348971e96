// The content of a report, in words and rows, without a layout. The terminal, markdown and HTML
// reports all print from here, so that they can't disagree.
//
// The order is the reader's: warnings, the four numbers, the distributions, their basis, the
// failures, the files, the next commands. A number that may be wrong has its doubt beside it. Pure;
// any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/innocence.h"
#include "base/json.h"
#include "domain/client_audit.h"
#include "metrics/point.h"
#include "report/quantity.h"

namespace assay::report {

struct Fact {
  std::string name{};
  std::string text{};
};

struct ReportFile {
  std::string path{};  // as the reader would type it
  std::string about{};
  std::uint64_t bytes = 0;
  std::string sha256{};  // hex; may be empty
};

// Facts beyond the Point, from the run folder and the machine.
struct RunContext {
  std::string folder{};  // as the reader would type it; "" without a folder
  std::vector<ReportFile> files{};
  std::string config_yaml{};  // redacted
  Json environment{};         // system and software: an object, nested to any depth; or null
  Json accuracy{};            // accuracy_results.json; null if nothing was scored
  Json judged{};              // judged_replies.json; null if there is none, or no room to show it
  std::string log_note{};     // where a truncated log ends; "" for a whole one
  // The client's own measurements, and the verdict on them; absent for a simulated run and for one
  // that ended before they were recorded.
  std::optional<ClientAudit> audit{};
  std::optional<audit::Innocence> innocence{};
  // The load against this client's certificate; "" where the client was not calibrated.
  std::string calibration{};
  // A suite's test: the verdict, the suite's metric, the reasons. Empty: the run is none.
  std::vector<Fact> test{};
  // The run's traffic classes, and what the server and the machine did meanwhile.
  std::vector<Fact> observed{};
  std::string ranks{};  // of a run of several hosts: how many, and their clocks; "" for any other
};

struct Headline {
  std::string name{};   // as in the result file: "system_tps"
  std::string label{};  // as on the terminal: "system_tps", "TTFT P90"
  std::string title{};  // in plain words: "output throughput"
  std::string value{};  // "9,932"
  std::string unit{};   // "tok/s"
  std::string doubt{};  // "" when there is none
};

struct DistributionRow {
  std::string name{};   // "TTFT"
  std::string about{};  // "request sent to first token"
  const metrics::Distribution* series = nullptr;
  Quantity quantity = Quantity::duration;
  bool part = false;  // a second view of the row above: "from due"
};

struct FailureRow {
  std::string outcome{};  // "reset"
  std::string about{};    // "the server reset the connection"
  std::uint64_t count = 0;
  double share = 0;       // of the queries issued
  std::string example{};  // printable; may be empty
  std::string where{};    // "query 1,204, sample 17, 2:31 into the run"
};

struct NextStep {
  std::string what{};  // the command to type or the file to open
  std::string why{};
};

// Refers into the Point it was made from, which must outlive it.
struct Content {
  std::string command{};  // "run", "simulate"
  std::string target{};   // "gpt-oss-120b @ http://10.0.0.5:8000"
  std::string load{};     // "concurrency 256"
  std::string when{};     // "2026-11-20 14:48:22 UTC"; "" for a simulated run
  bool simulated = false;
  std::string verdict{};  // one sentence
  std::vector<std::string> warnings{};
  std::vector<Fact> test{};  // of a suite's test, before the headlines
  std::array<Headline, 4> headlines{};
  std::vector<DistributionRow> distributions{};  // those with values
  std::vector<Fact> basis{};                     // what the numbers rest on
  std::vector<FailureRow> failures{};
  std::vector<Fact> about{};  // what, where, when
  std::vector<NextStep> next{};
};

Content make_content(const metrics::Point& point, const RunContext& context);

// "gpt-oss-120b @ http://10.0.0.5:8000" and "concurrency 256" from RunInfo::facts; the live block
// uses them too. Safe to print.
std::string target_text(const Json& facts);
std::string load_text(const Json& facts);

// A file's path relative to the run folder, safe to print.
std::string path_in_folder(const RunContext& context, const ReportFile& file);

// "innocent", "was the bottleneck: sends were late: P99 7.20 ms"
std::string innocence_text(const audit::Innocence& innocence);

// The fewest values that bound this percentile with 99 % confidence; with fewer it is a guess
// (metrics/early_stopping.h).
// REQUIRES: 0 < percentile < 100.
std::uint64_t values_needed(double percentile);

// Only for times: token counts describe the work and are not estimated.
bool few_values(const DistributionRow& row, double percentile);

// A percentile as a cell: "688 ms", "~688 ms" with too few values, "–" without values.
std::string percentile_cell(const DistributionRow& row, double percentile);
std::string value_cell(const DistributionRow& row, double value);
inline constexpr std::string_view kFewValuesNote =
    "~ fewer values than 99 % confidence needs (11, 64, 662 and 6,636)";
// True when a row of the table has the "~" mark.
bool has_few_values(const Content& content);

// The percentiles that every table shows, and their names.
inline constexpr std::array<double, 4> kShownPercentiles{50.0, 90.0, 99.0, 99.9};
std::string percentile_name(double percentile);

// The meaning of an outcome, for a reader who sees the word for the first time.
std::string_view outcome_about(Outcome outcome);

}  // namespace assay::report
