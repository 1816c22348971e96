#include "metrics/class_fold.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

constexpr std::array<double, 3> kShown = {50.0, 90.0, 99.0};

bool keeps_limits(const TrafficClass& traffic, const Figures& figures) {
  for (const ClassLimit& limit : traffic.limits) {
    const std::optional<double>& figure = limit.series == "ttft"   ? figures.ttft
                                          : limit.series == "tpot" ? figures.tpot
                                                                   : figures.latency;
    if (figure && *figure > static_cast<double>(limit.most.ns)) return false;
  }
  return true;
}

// Jain's index over the attainment of the classes that have ended queries.
std::optional<double> fairness_of(const std::vector<ClassFigures>& classes) {
  double sum = 0;
  double squares = 0;
  double n = 0;
  for (const ClassFigures& one : classes) {
    if (one.ended == 0) continue;
    sum += one.attainment();
    squares += one.attainment() * one.attainment();
    ++n;
  }
  if (n < 2 || squares <= 0) return std::nullopt;
  return sum * sum / (n * squares);
}

double per_second(double amount, Duration window) {
  return window.ns > 0 ? amount / window.seconds() : 0;
}

}  // namespace

Json series_json(const Distribution& series) {
  Json out = Json().set("count", series.count);
  if (series.empty()) return out;
  out.set("mean", series.mean);
  for (const double p : kShown) out.set(format("p{:.0f}", p), series.percentile(p));
  return out.set("max", series.max);
}

std::string series_text(std::string_view name, const Distribution& series) {
  if (series.empty()) return {};
  const auto at = [&series](double p) {
    return human_duration(Duration{static_cast<std::int64_t>(series.percentile(p))});
  };
  return format("; {} P50 {}, P99 {}", name, at(50.0), at(99.0));
}

double ClassFigures::attainment() const {
  return ended == 0 ? 0 : static_cast<double>(good) / static_cast<double>(ended);
}

ClassFold::ClassFold(const RunInfo& info, TrafficMix mix)
    : ReplyFold(info), mix_(std::move(mix)), classes_(mix_.size()) {
  for (std::size_t i = 0; i < mix_.size(); ++i) classes_[i].figures.traffic = mix_[i];
}

void ClassFold::on_reply(const Reply& reply) {
  if (mix_.empty()) return;
  Open& open = classes_[class_of(mix_, reply.event.query.sample)];
  ++open.figures.ended;
  scratch_.clear();
  kAssayDefinition.measure(reply, scratch_);
  if (!scratch_.success) return;
  ++open.figures.succeeded;
  if (keeps_limits(open.figures.traffic, scratch_)) ++open.figures.good;
  open.figures.prompt_tokens += std::max(reply.event.usage.prompt_tokens, 0);
  open.figures.output_tokens += scratch_.tokens.value_or(0);
  if (scratch_.ttft) open.ttft.add(static_cast<std::int64_t>(*scratch_.ttft));
  if (scratch_.latency) open.latency.add(static_cast<std::int64_t>(*scratch_.latency));
  if (scratch_.tpot) open.tpot.add(*scratch_.tpot);
  for (const double tpot : scratch_.more_tpot) open.tpot.add(tpot);
}

ClassReport ClassFold::finish() {
  ClassReport out;
  for (Open& open : classes_) {
    open.figures.ttft = open.ttft.finish(false);
    open.figures.tpot = open.tpot.finish(false);
    open.figures.latency = open.latency.finish(false);
    out.classes.push_back(std::move(open.figures));
  }
  classes_.clear();
  mix_.clear();
  if (run_end().known() && run_end() > run_start()) out.window = run_end() - run_start();
  out.fairness = fairness_of(out.classes);
  return out;
}

Json to_json(const ClassReport& report) {
  Json classes = Json::array();
  for (const ClassFigures& one : report.classes) {
    classes.push_back(
        Json()
            .set("name", one.traffic.name)
            .set("share", one.traffic.share)
            .set("slo", one.traffic.slo)
            .set("ended", one.ended)
            .set("succeeded", one.succeeded)
            .set("failed", one.ended - one.succeeded)
            .set("good", one.good)
            .set("attainment", one.attainment())
            .set("goodput_qps", per_second(static_cast<double>(one.good), report.window))
            .set("prompt_tokens", one.prompt_tokens)
            .set("output_tokens", one.output_tokens)
            .set("tps", per_second(static_cast<double>(one.output_tokens), report.window))
            .set("ttft", series_json(one.ttft))
            .set("tpot", series_json(one.tpot))
            .set("latency", series_json(one.latency)));
  }
  return Json()
      .set("classes", std::move(classes))
      .set("window_ns", report.window.ns)
      .set("fairness", report.fairness ? Json(*report.fairness) : Json());
}

std::vector<std::pair<std::string, std::string>> class_lines(const ClassReport& report) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const ClassFigures& one : report.classes) {
    std::string text = format("{}: {} queries", one.traffic.name, count_text(one.ended));
    if (one.succeeded < one.ended) {
      text += format(", {} failed", count_text(one.ended - one.succeeded));
    }
    text += series_text("TTFT", one.ttft) + series_text("TPOT", one.tpot);
    text += series_text("latency", one.latency);
    text += format("; {} tok/s",
                   three_digits(per_second(static_cast<double>(one.output_tokens), report.window)));
    if (!one.traffic.slo.empty()) {
      text +=
          format("; {}: {:.1f} % kept, {} good queries/s", one.traffic.slo, 100 * one.attainment(),
                 three_digits(per_second(static_cast<double>(one.good), report.window)));
    }
    out.emplace_back("class", std::move(text));
  }
  if (report.fairness) {
    out.emplace_back("fairness",
                     format("{:.3f} (Jain's index of the classes' attainment; 1 is "
                            "even, {:.2f} is one class alone)",
                            *report.fairness, 1.0 / static_cast<double>(report.classes.size())));
  }
  return out;
}

}  // namespace assay::metrics
