// Figures of a client run, by MLPerf Client's definitions:
//
//   TTFT of an inference      first token - sent
//   2nd+ token latency        (done - first token) / (tokens - 1)
//   of an item (prompt, turn) the mean of both over its measured inferences
//   rate of an item           1 / its 2nd+ token latency
//   of a category             the mean of its items' TTFT, and the mean of their rates
//   overall                   the geometric mean of the five required categories
//   expected duration of a turn  recorded tokens x 2nd+ token latency + time of tools + TTFT
//   of an agent's category    the sums of its turns' expected durations and times of tools
//
// Instants are of the event log: the kernel's stamps where it gave them, so TTFT includes HTTP. The
// number of tokens is TokenTruth's. Where Client drops all rates because one reply had fewer than
// two tokens, here only the rates that it enters are missing, with the reason. Seconds and tokens
// per second. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "desk/series.h"

namespace assay::desk {

struct InferenceRecord {
  std::uint32_t row = 0;
  bool ok = false;
  Instant sent = Instant::none();
  Instant first_token = Instant::none();
  Instant done = Instant::none();
  std::int64_t tokens_in = -1;  // -1: unknown
  std::int64_t tokens_out = -1;
  std::int64_t cached_in = -1;  // of tokens_in, as the server reports
};

struct ItemFigures {
  Item item{};
  std::uint32_t planned = 0;
  std::uint32_t measured = 0;  // those that ended
  std::uint32_t failed = 0;    // measured inferences without a usable reply; the item then has none
  std::optional<double> ttft_s{};
  std::optional<double> latency_s{};  // 2nd+ token latency
  std::optional<double> rate{};
  std::optional<double> tokens_in{};
  std::optional<double> tokens_out{};
  std::optional<double> expected_s{};  // of an agent's turn
  // Tokens and seconds after the first token, together: for the rate that weighs by tokens.
  double tokens_after_first = 0;
  double seconds_after_first = 0;
};

struct CategoryFigures {
  std::string name{};
  bool required = false;
  std::optional<double> ttft_s{};
  std::optional<double> rate{};
  std::optional<double> rate_by_tokens{};  // all tokens after the first, by their time
  std::optional<double> tokens_in{};
  std::optional<double> tokens_out{};
  std::uint32_t failed_items = 0;
  std::string why{};  // a figure is missing; "" where none is
  // An agent's conversation has these; what is missing of its turns is missing here.
  std::optional<double> expected_s{};
  std::optional<double> tools_s{};
  std::optional<double> context_tokens{};  // input tokens of the last turn
  std::vector<ItemFigures> items{};
};

struct ClientFigures {
  bool agentic = false;
  std::vector<CategoryFigures> categories{};  // in the order in which they were asked
  std::optional<double> ttft_s{};
  std::optional<double> rate{};
  std::string why{};                // the overall figures are missing; "" where they are there
  std::uint64_t cached_inputs = 0;  // measured inferences whose prompt was partly in a cache
};

// nullopt for no value and for one that is not above 0. The logarithms are added, so neither very
// many nor very small values overflow.
std::optional<double> geometric_mean(std::span<const double> values);

ClientFigures client_figures(const Series& series, std::span<const InferenceRecord> records);

// With every figure at full precision, and under "mlperf_client" with MLPerf Client's own keys and
// its 3 decimals.
Json to_json(const ClientFigures& figures);
// One screen: a line a category, the overall line, what is missing and why.
std::string to_text(const ClientFigures& figures);

}  // namespace assay::desk
