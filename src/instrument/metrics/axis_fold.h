// AxisFold: the figures of a run for each language and modality of its rows (domain/row_axes.h):
// latencies by our own definitions, tokens, and tokens per character of prompts and of replies. A
// token is paid and waited for, so tokens per character say what a tokenizer costs a language,
// beside the latencies in which it shows.
//
// Tokens of a prompt are the tokenizer's where the run's tokens were counted, else the server's
// usage; a chat template's own tokens are among them. A reply's characters are those of its text,
// where the log has it. Sums are over succeeded replies that have both. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/row_axes.h"
#include "metrics/definitions/definition.h"
#include "metrics/distribution.h"
#include "metrics/reply_fold.h"
#include "metrics/series.h"

namespace assay::metrics {

// Tokens of texts whose characters are known.
struct TokenCost {
  std::int64_t tokens = 0;
  std::int64_t characters = 0;

  // Absent without characters.
  std::optional<double> per_character() const;
};

struct AxisFigures {
  std::string axis{};
  std::string value{};
  std::uint64_t ended = 0;
  std::uint64_t succeeded = 0;
  TokenCost prompts{};
  TokenCost replies{};
  Distribution ttft{};  // ns
  Distribution tpot{};
  Distribution latency{};
};

using AxisReport = std::vector<AxisFigures>;  // by axis, values in order of their first row

class AxisFold final : public ReplyFold {
 public:
  AxisFold(const RunInfo& info, RowAxes axes);
  // The fold is empty afterwards.
  AxisReport finish();

 private:
  struct Open {
    Series ttft{};
    Series latency{};
    RatioSeries tpot{};
    AxisFigures figures{};
  };

  void on_reply(const Reply& reply) override;
  void add(const Reply& reply, std::uint32_t characters, Open& open) const;

  RowAxes axes_;
  std::vector<std::vector<Open>> open_;  // of each axis, of each value
  Figures scratch_{};
};

// `axes` of result_summary.json.
Json to_json(const AxisReport& report);
// For a report: a line for each value, with its axis as name.
std::vector<std::pair<std::string, std::string>> axis_lines(const AxisReport& report);

}  // namespace assay::metrics
