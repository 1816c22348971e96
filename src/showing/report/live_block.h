// The live block: what a person sees during a run. It turns a snapshot into lines; live_painter.h
// writes them to a terminal.
//
//     assay run   gpt-oss-120b @ http://10.0.0.5:8000               concurrency 256
//     performance ━━━━━━━━━━━━━━━━━━━━━━━━╸─────────  71 %   14:12 of 20:00
//     rate        offered 38.4/s   sent 38.4/s   done 38.4/s       ▆▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇
//     …
//
// Every figure keeps its column and its width, so that unchanged text does not move. Lines are at
// most `columns` wide and carry no escapes. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/live.h"

namespace assay::report {

struct LiveTitle {
  std::string command = "run";
  std::string target{};  // "gpt-oss-120b @ http://10.0.0.5:8000"
  std::string load{};    // "concurrency 256"
};

// At most 12 lines, plus the lines that describe a problem.
std::vector<std::string> live_block(const LiveTitle& title, const metrics::LiveSnapshot& snapshot,
                                    std::size_t columns = 80);

// The same on one line, for a log; printed every few seconds where there is no terminal.
std::string live_line(const metrics::LiveSnapshot& snapshot);

// The completed share of the phase, 0 to 1; nullopt where the plan gives no end.
std::optional<double> live_progress(const metrics::LiveSnapshot& snapshot);

// ━━━━━━━╸─────
std::string progress_bar(double share, std::size_t columns);

// ▁▂▃▄▅▆▇ from zero to the largest value; a blank for a missing value. The newest is rightmost.
// With more values than columns, each column is the mean of its share of them.
std::string sparkline(std::span<const std::optional<double>> values, std::size_t columns);

}  // namespace assay::report
