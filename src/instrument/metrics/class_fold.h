// ClassFold: the figures of each traffic class of a run (domain/traffic_class.h): latencies by our
// own definitions, tokens, and goodput by the class's limits; and how fairly the classes fared.
//
// Goodput counts queries that succeeded and kept every limit of their class; a failed query has
// missed, and a limit on a figure that a reply does not have (TPOT of one token, TTFT of a reply
// that was not streamed) is kept. Attainment is good ÷ ended. Fairness is Jain's index
// (Σx)² / (n · Σx²) over the classes' attainment: 1 where all fare alike, 1/n where one alone is
// served. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/traffic_class.h"
#include "metrics/definitions/definition.h"
#include "metrics/distribution.h"
#include "metrics/reply_fold.h"
#include "metrics/series.h"

namespace assay::metrics {

struct ClassFigures {
  TrafficClass traffic{};
  std::uint64_t ended = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t good = 0;
  std::int64_t prompt_tokens = 0;  // of the succeeded, where the server reported them
  std::int64_t output_tokens = 0;
  Distribution ttft{};  // ns
  Distribution tpot{};
  Distribution latency{};

  double attainment() const;  // 0 where nothing ended
};

struct ClassReport {
  std::vector<ClassFigures> classes{};  // in the mix's order
  Duration window{};                    // of the measured phases, start to end
  std::optional<double> fairness{};     // absent where fewer than two classes have ended queries
};

class ClassFold final : public ReplyFold {
 public:
  ClassFold(const RunInfo& info, TrafficMix mix);
  // The fold is empty afterwards.
  ClassReport finish();

 private:
  struct Open {
    Series ttft{};
    Series latency{};
    RatioSeries tpot{};
    ClassFigures figures{};
  };

  void on_reply(const Reply& reply) override;

  TrafficMix mix_;
  std::vector<Open> classes_;
  Figures scratch_{};
};

// The series of a part of a run: count, mean, a few percentiles and the most; and as a piece of a
// line, which begins with "; " and is "" without values.
Json series_json(const Distribution& series);
std::string series_text(std::string_view name, const Distribution& series);

// `classes` of result_summary.json.
Json to_json(const ClassReport& report);
// For a report: a line for each class and one on fairness, each with its name.
std::vector<std::pair<std::string, std::string>> class_lines(const ClassReport& report);

}  // namespace assay::metrics
