// A curve in words and rows, for the terminal and as markdown: the verdict, the picture, the table
// of points with region, basis, client and accuracy, the findings of the rules, cost and energy
// where known. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "decide/terms.h"
#include "metrics/curve.h"
#include "report/terminal_style.h"

namespace assay::report {

using CurveOptions = decide::Terms;

// One row of the table; an unknown value is "–".
struct CurveRow {
  std::string point{};        // "r64"
  std::string region{};       // "Medium", "High, Offline"
  std::string concurrency{};  // "64"
  std::string throughput{};   // tokens a second, or units
  std::string per_user{};
  std::string latency{};  // P90, where replies have a unit
  std::string ttft{};     // P90
  std::string tpot{};
  std::string basis{};  // "window 20:12", "whole run: drifting_up"
  std::string accuracy{};
  std::string safety{};         // "Very Good, 93.1 %", by Assay's own rules
  std::string safety_failed{};  // "1.2 %" of the safety run's queries
  std::string cost{};           // "$1.23" for a million output tokens, or a thousand units
  std::string energy{};         // "1.21 J" of a token or a unit
  std::string slo{};            // "kept" or "not", where limits were given
  std::string doubt{};          // "client limited"
};
std::vector<CurveRow> curve_rows(const metrics::Curve& curve, const CurveOptions& options);

// "model, fp8 @ endpoint".
std::string curve_subject(const metrics::Curve& curve);
// One sentence: "peak 9,932 tok/s at concurrency 256; …; Offline 10,210 tok/s; …".
std::string curve_verdict(const metrics::Curve& curve);
// Sentences after the verdict: users served, and the caching audit where it passed.
std::vector<std::string> further_sentences(const metrics::Curve& curve,
                                           const CurveOptions& options);
// What a reader must know first, the most serious doubt first.
std::vector<std::string> curve_doubts(const metrics::Curve& curve);
// How "tok/s", "$/M tok" and "J/tok" are written for the curve's unit.
struct CurveHeads {
  std::string throughput{};
  std::string cost{};
  std::string energy{};
};
CurveHeads curve_heads(const metrics::Curve& curve);
// "Ultra Low", "Low", …
std::string region_words(const metrics::CurvePoint& point);

std::string curve_terminal(const metrics::Curve& curve, const CurveOptions& options,
                           const TerminalStyle& style);
std::string curve_markdown(const metrics::Curve& curve, const CurveOptions& options);

}  // namespace assay::report
