#include "sim/measured_load.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {
namespace {

constexpr double kTokensMax = 10'000'000;  // as in dataset/length.h

std::uint32_t tokens(double value) {
  return static_cast<std::uint32_t>(std::llround(std::clamp(value, 1.0, kTokensMax)));
}

LengthDraw draw_from(const LengthClasses& lengths) {
  std::vector<double> upto;
  double sum = 0;
  for (const LengthClass& one : lengths) upto.push_back(sum += one.share);
  return [lengths, upto](Rng& rng) {
    const double at = rng.uniform() * upto.back();
    auto i =
        static_cast<std::size_t>(std::upper_bound(upto.begin(), upto.end(), at) - upto.begin());
    i = std::min(i, lengths.size() - 1);
    const LengthClass& one = lengths[i];
    return one.low + static_cast<std::uint32_t>(rng.below(one.high - one.low + 1));
  };
}

// A series of result_summary.json: half-open buckets, the last one closed.
Result<LengthClasses> read_series(const Json& series, std::string_view what) {
  LengthClasses out;
  const Json& buckets = series["histogram"]["buckets"];
  const Json& counts = series["histogram"]["counts"];
  for (std::size_t i = 0; i < buckets.size() && i < counts.size(); ++i) {
    const double count = counts.items()[i].as_double();
    const Json& edges = buckets.items()[i];
    if (!(count > 0) || edges.size() != 2) continue;
    const double low = edges.items()[0].as_double();
    const double high = edges.items()[1].as_double();
    const bool last = i + 1 == buckets.size();
    LengthClass one{tokens(std::ceil(low)), tokens(last ? std::floor(high) : std::ceil(high) - 1),
                    count};
    one.high = std::max(one.low, one.high);
    out.push_back(one);
  }
  const double mean = series["avg"].as_double();
  if (out.empty() && mean >= 1) out.push_back({tokens(mean), tokens(mean), 1});
  if (out.empty()) return invalid(format("says nothing of how many tokens {} had", what));
  return out;
}

LengthClasses pooled_classes(const std::vector<const LengthClasses*>& lists) {
  double low = kTokensMax;
  double high = 1;
  for (const LengthClasses* list : lists) {
    for (const LengthClass& one : *list) {
      low = std::min(low, double{1} * one.low);
      high = std::max(high, double{1} * one.high);
    }
  }
  // Classes of equal ratio, each at least one length wide.
  LengthClasses out;
  const double ratio = std::pow((high + 1) / low, 1.0 / static_cast<double>(kLengthClasses));
  for (double from = low; from <= high;) {
    const double to = std::max(from + 1, std::floor(from * ratio));
    out.push_back({tokens(from), tokens(std::min(high, to - 1)), 0});
    from = to;
  }
  for (const LengthClasses* list : lists) {
    double sum = 0;
    for (const LengthClass& one : *list) sum += one.share;
    for (const LengthClass& one : *list) {
      const double each = one.share / sum / (double{1} * one.high - one.low + 1);
      for (LengthClass& cell : out) {
        const double first = std::max(cell.low, one.low);
        const double last = std::min(cell.high, one.high);
        cell.share += each * std::max(0.0, last - first + 1) / static_cast<double>(lists.size());
      }
    }
  }
  std::erase_if(out, [](const LengthClass& one) { return one.share <= 0; });
  return out;
}

std::string classes_yaml(const LengthClasses& lengths) {
  std::string out;
  for (const LengthClass& one : lengths) {
    out += format("{}[{}, {}, {:.6g}]", out.empty() ? "" : ", ", one.low, one.high, one.share);
  }
  return "[" + out + "]";
}

Result<LengthClasses> read_classes(const Json& list, const std::string& where) {
  LengthClasses out;
  for (const Json& item : list.items()) {
    const auto number = [&item](std::size_t i) {
      return i < item.size() ? item.items()[i].as_double() : 0;
    };
    const double low = number(0);
    const double high = number(1);
    const double share = number(2);
    const bool good = low >= 1 && high >= low && high <= kTokensMax && share > 0 && share < 1e12;
    if (!good) {
      return invalid(
          format("{}: a class is [lowest tokens, highest tokens, share above 0]", where));
    }
    out.push_back({tokens(low), tokens(high), share});
  }
  if (out.empty() || out.size() > 10'000) return invalid(format("{}: has no classes", where));
  return out;
}

}  // namespace

double mean_tokens(const LengthClasses& lengths) {
  double sum = 0;
  double shares = 0;
  for (const LengthClass& one : lengths) {
    sum += one.share * (double{1} * one.low + one.high) / 2;
    shares += one.share;
  }
  return shares > 0 ? sum / shares : 0;
}

std::string describe(const LengthClasses& lengths) {
  if (lengths.empty()) return "?";
  const std::uint32_t low = lengths.front().low;
  const std::uint32_t high = lengths.back().high;
  if (low == high) return format("{}", low);
  return format("{} to {}, {:.0f} on average", low, high, mean_tokens(lengths));
}

LengthClasses classes_of(const LengthDraw& draw) {
  constexpr int kDraws = 20'000;
  Rng rng(1);
  LengthClasses each;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t n = std::clamp(draw(rng), 1U, static_cast<std::uint32_t>(kTokensMax));
    each.push_back({n, n, 1});
  }
  return pooled_classes({&each});
}

Workload workload_of(const MeasuredLoad& load) {
  Workload out;
  out.input = draw_from(load.input);
  out.output = draw_from(load.output);
  out.common_share = load.cached_share;
  return out;
}

Result<MeasuredLoad> read_load(const Json& summary) {
  MeasuredLoad out;
  ASSIGN_OR_RETURN(out.input, read_series(summary["input_sequence_lengths"], "the prompts"));
  ASSIGN_OR_RETURN(out.output, read_series(summary["output_sequence_lengths"], "the replies"));
  const Json& told = summary["assay"]["tokens"];
  const double prompt = told["prompt"].as_double();
  if (prompt > 0) out.cached_share = std::clamp(told["cached"].as_double() / prompt, 0.0, 1.0);
  return out;
}

Result<MeasuredLoad> read_mean_load(const Json& point) {
  const double input = point["isl_mean"].as_double();
  const double output = point["osl_mean"].as_double();
  if (!(input >= 0.5) || !(output >= 0.5)) {
    return invalid("isl_mean and osl_mean: both must be there, and 0.5 or more");
  }
  MeasuredLoad out;
  out.input = {{tokens(input), tokens(input), 1}};
  out.output = {{tokens(output), tokens(output), 1}};
  out.cached_share = std::clamp(point["prefix_hit_rate"].as_double(), 0.0, 1.0);
  return out;
}

MeasuredLoad pooled(const std::vector<MeasuredLoad>& loads) {
  MeasuredLoad out;
  std::vector<const LengthClasses*> inputs;
  std::vector<const LengthClasses*> outputs;
  for (const MeasuredLoad& load : loads) {
    inputs.push_back(&load.input);
    outputs.push_back(&load.output);
    out.cached_share += load.cached_share / static_cast<double>(loads.size());
  }
  out.input = pooled_classes(inputs);
  out.output = pooled_classes(outputs);
  return out;
}

std::string to_yaml(const MeasuredLoad& load) {
  return format("load:\n  isl: {}\n  osl: {}\n  cached: {:.6g}\n", classes_yaml(load.input),
                classes_yaml(load.output), load.cached_share);
}

Result<MeasuredLoad> read_load_map(const Json& map, const std::string& where) {
  Fields at(map, where);
  MeasuredLoad out;
  ASSIGN_OR_RETURN(out.input, read_classes(at.value("isl"), at.where("isl")));
  ASSIGN_OR_RETURN(out.output, read_classes(at.value("osl"), at.where("osl")));
  out.cached_share = at.number("cached", 0.0);
  if (out.cached_share > 1) at.fail(at.where("cached") + ": is a share, 0 to 1");
  TRY(at.done());
  return out;
}

}  // namespace assay::sim
