#include "compare/accuracy.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/enum_name.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/rng.h"
#include "score/paired_shares.h"

namespace assay::compare {
namespace {

using score::DifferenceRange;
using score::FigureKind;
using score::SampleScores;
using score::Share;
using score::Tally;

constexpr std::size_t kDraws = 4000;

struct Pair {
  Share a{};
  Share b{};
};

struct SumsOfPairs {
  Share a{};
  Share b{};
  void add(const Pair& pair) {
    a.amount += pair.a.amount;
    a.of += pair.a.of;
    b.amount += pair.b.amount;
    b.of += pair.b.of;
  }
  bool known() const { return a.of > 0 && b.of > 0; }
  double difference() const { return b.amount / b.of - a.amount / a.of; }
};

bool is_binary(const Share& share) {
  return share.of == 1 && (share.amount == 0 || share.amount == 1);
}

// One figure under test. The difference is B − A as a fraction; positive is higher.
struct PairedTest {
  double difference = 0;
  std::optional<DifferenceRange> range{};
  double p = 1;
};

PairedTest by_mcnemar(std::span<const Pair> pairs, double tail, AccuracyComparison& out) {
  double both = 0;
  double neither = 0;
  for (const Pair& pair : pairs) {
    const bool a = pair.a.amount > 0;
    const bool b = pair.b.amount > 0;
    out.only_a += a && !b ? 1U : 0U;
    out.only_b += b && !a ? 1U : 0U;
    both += a && b ? 1 : 0;
    neither += a || b ? 0 : 1;
  }
  const auto only_a = static_cast<double>(out.only_a);
  const auto only_b = static_cast<double>(out.only_b);
  return {.difference = (only_b - only_a) / static_cast<double>(pairs.size()),
          .range = score::newcombe(both, only_a, only_b, neither, tail),
          .p = score::mcnemar_exact(out.only_a, out.only_b)};
}

PairedTest by_t(std::span<const Pair> pairs, const SumsOfPairs& sums, double tail) {
  PairedTest out{.difference = sums.difference()};
  if (pairs.size() < 2) return out;
  const double ra = sums.a.amount / sums.a.of;
  const double rb = sums.b.amount / sums.b.of;
  double squares = 0;
  for (const Pair& pair : pairs) {
    const double part =
        (pair.b.amount - rb * pair.b.of) / sums.b.of - (pair.a.amount - ra * pair.a.of) / sums.a.of;
    squares += part * part;
  }
  const auto n = static_cast<double>(pairs.size());
  const double error = std::sqrt(squares * n / (n - 1));
  const double reach = score::student_quantile(tail, n - 1) * error;
  out.range = DifferenceRange{out.difference - reach, out.difference + reach};
  // Below the resolution of a sum of doubles there is no spread.
  const bool spread = error > 1e-15;
  out.p = spread ? std::min(1.0, 2 * score::student_tail(std::abs(out.difference) / error, n - 1))
                 : (std::abs(out.difference) > 1e-15 ? 0 : 1);
  return out;
}

PairedTest by_bootstrap(std::span<const Pair> pairs, const SumsOfPairs& sums, double tail,
                        std::uint64_t seed) {
  PairedTest out{.difference = sums.difference()};
  if (pairs.size() < 2) return out;
  Rng rng(seed);
  std::vector<double> draws;
  for (std::size_t i = 0; i < kDraws; ++i) {
    SumsOfPairs drawn;
    for (std::size_t k = 0; k < pairs.size(); ++k) drawn.add(pairs[rng.below(pairs.size())]);
    if (drawn.known()) draws.push_back(drawn.difference());
  }
  if (draws.size() < 2) return out;
  std::ranges::sort(draws);
  const auto last = static_cast<double>(draws.size() - 1);
  out.range = DifferenceRange{draws[static_cast<std::size_t>(std::floor(tail * last))],
                              draws[static_cast<std::size_t>(std::ceil((1 - tail) * last))]};
  const auto at_most = std::ranges::count_if(draws, [](double d) { return d <= 0; });
  const auto at_least = std::ranges::count_if(draws, [](double d) { return d >= 0; });
  const auto side = static_cast<double>(std::min(at_most, at_least));
  out.p = std::min(1.0, 2 * (side + 1) / (last + 2));
  return out;
}

// An interval of few samples may leave 0 out where the exact test still finds chance enough: a
// difference needs both.
AccuracyVerdict accuracy_verdict(const AccuracyComparison& c, const std::optional<double>& margin,
                                 double tail) {
  if (!c.low || !c.high) return AccuracyVerdict::unresolved;
  const bool no_chance = c.p <= 2 * tail;
  if (*c.low > 0 && no_chance) return AccuracyVerdict::better;
  if (margin && *c.low > -*margin) return AccuracyVerdict::as_good;
  return *c.high < -margin.value_or(0) && no_chance ? AccuracyVerdict::worse
                                                    : AccuracyVerdict::unresolved;
}

AccuracyComparison compare_figure(const SampleScores& a, const SampleScores& b, double tail,
                                  const AccuracyOptions& options) {
  std::vector<Pair> pairs;
  SumsOfPairs sums;
  bool binary = a.tally.kind == FigureKind::proportion;
  for (const auto& [sample, share] : a.tally.samples) {
    pairs.push_back({share, b.tally.samples.at(sample)});
    sums.add(pairs.back());
    binary = binary && is_binary(pairs.back().a) && is_binary(pairs.back().b);
  }
  AccuracyComparison out{.dataset = a.dataset,
                         .figure = a.figure,
                         .a = a.tally.value(),
                         .b = b.tally.value(),
                         .samples = pairs.size()};
  PairedTest tested;
  if (binary) {
    out.test = AccuracyTest::mcnemar_exact;
    tested = by_mcnemar(pairs, tail, out);
  } else if (a.tally.kind == FigureKind::ratio) {
    out.test = AccuracyTest::paired_bootstrap;
    tested = by_bootstrap(pairs, sums, tail, options.seed);
  } else {
    tested = by_t(pairs, sums, tail);
  }
  const bool flip = a.tally.lower_is_better;
  out.difference = 100 * (flip ? -tested.difference : tested.difference);
  out.p = tested.p;
  if (tested.range) {
    out.low = 100 * (flip ? -tested.range->high : tested.range->low);
    out.high = 100 * (flip ? -tested.range->low : tested.range->high);
  }
  out.verdict = accuracy_verdict(out, options.margin_points, tail);
  return out;
}

const SampleScores* find(const std::vector<SampleScores>& all, const SampleScores& like) {
  for (const SampleScores& one : all) {
    if (one.dataset == like.dataset && one.figure == like.figure) return &one;
  }
  return nullptr;
}

std::string said(const std::string& text) { return text.empty() ? "none" : text; }

// Why two figures of one name are not of the same work; "" if they are.
std::string why_unlike(const SampleScores& a, const SampleScores& b) {
  struct Fact {
    const char* name;
    const std::string SampleScores::*of;
  };
  for (const auto& [name, of] :
       {Fact{"dataset's file (sha256)", &SampleScores::dataset_sha256},
        Fact{"scorer", &SampleScores::scorer}, Fact{"extractor", &SampleScores::extractor},
        Fact{"column of the truth", &SampleScores::ground_truth}}) {
    if (a.*of != b.*of) return format("{}: A has {}, B {}", name, said(a.*of), said(b.*of));
  }
  if (a.tally.kind != b.tally.kind || a.tally.scale != b.tally.scale ||
      a.tally.lower_is_better != b.tally.lower_is_better) {
    return "the figure is defined otherwise in A than in B: score both again (assay score RUN)";
  }
  std::size_t missing = 0;
  for (const auto& [sample, share] : a.tally.samples) {
    missing += b.tally.samples.contains(sample) ? 0U : 1U;
  }
  const std::size_t more = b.tally.samples.size() + missing - a.tally.samples.size();
  if (missing + more > 0) {
    return format("the samples are not the same: {} are only in A, {} only in B", missing, more);
  }
  const auto has_value = [](const Tally& tally) { return std::isfinite(tally.value()); };
  if (!has_value(a.tally) || !has_value(b.tally)) return "no sample has a score";
  return {};
}

}  // namespace

std::string_view to_string(AccuracyTest test) { return enum_name(test); }

std::string_view to_string(AccuracyVerdict verdict) { return enum_name(verdict); }

bool AccuracyComparisons::worse() const {
  return std::ranges::any_of(figures,
                             [](const auto& f) { return f.verdict == AccuracyVerdict::worse; });
}

bool AccuracyComparisons::unresolved() const {
  return std::ranges::any_of(
      figures, [](const auto& f) { return f.verdict == AccuracyVerdict::unresolved; });
}

AccuracyComparisons compare_accuracy(const std::vector<SampleScores>& a,
                                     const std::vector<SampleScores>& b,
                                     const AccuracyOptions& options) {
  AccuracyComparisons out;
  std::vector<std::pair<const SampleScores*, const SampleScores*>> both;
  for (const SampleScores& left : a) {
    const std::string name = format("{}, {}", left.dataset, left.figure);
    const SampleScores* const right = find(b, left);
    const std::string why = right == nullptr ? "only A has this score" : why_unlike(left, *right);
    if (!why.empty()) out.refusals.push_back(format("{}: {}", name, why));
    if (why.empty()) both.emplace_back(&left, right);
  }
  for (const SampleScores& right : b) {
    if (find(a, right) != nullptr) continue;
    out.refusals.push_back(format("{}, {}: only B has this score", right.dataset, right.figure));
  }
  if (a.empty() && b.empty()) out.refusals.emplace_back("neither run has a score by samples");
  if (!out.comparable()) return out;
  const double tail = options.alpha / 2 / static_cast<double>(both.size());
  for (const auto& [left, right] : both) {
    out.figures.push_back(compare_figure(*left, *right, tail, options));
  }
  return out;
}

Json accuracy_comparison_json(const AccuracyComparisons& comparison, std::string_view a,
                              std::string_view b, const AccuracyOptions& options) {
  Json figures = Json::array();
  for (const AccuracyComparison& one : comparison.figures) {
    Json interval;
    if (one.low && one.high) interval = Json::array().push_back(*one.low).push_back(*one.high);
    Json line = Json()
                    .set("dataset", one.dataset)
                    .set("figure", one.figure)
                    .set("a", one.a)
                    .set("b", one.b)
                    .set("difference_points", one.difference)
                    .set("interval_points", std::move(interval))
                    .set("p", one.p)
                    .set("test", to_string(one.test))
                    .set("samples", one.samples);
    if (one.test == AccuracyTest::mcnemar_exact) {
      line.set("only_a", one.only_a).set("only_b", one.only_b);
    }
    figures.push_back(std::move(line.set("verdict", to_string(one.verdict))));
  }
  const std::string_view verdict = !comparison.comparable()  ? "not_comparable"
                                   : comparison.worse()      ? "worse"
                                   : comparison.unresolved() ? "unresolved"
                                                             : "as_good_or_better";
  return Json()
      .set("verdict", verdict)
      .set("a", a)
      .set("b", b)
      .set("confidence", 1 - options.alpha)
      .set("margin_points", options.margin_points ? Json(*options.margin_points) : Json())
      .set("refusals", json_list(comparison.refusals))
      .set("accuracy", std::move(figures));
}

}  // namespace assay::compare
