#include "interchange/write/prometheus_text.h"

#include "base/format.h"
#include "interchange/write/exporter.h"

namespace assay::interchange {
namespace {

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

PrometheusLabels common_labels(const Json& facts) {
  PrometheusLabels out;
  if (facts["model"].is_string()) out.emplace_back("model", facts["model"].as_string());
  return out;
}

constexpr double kShown[] = {50.0, 90.0, 99.0, 99.9};

void summary(PrometheusText& text, std::string_view name, std::string_view help,
             const metrics::Distribution& series, double scale) {
  if (series.empty()) return;
  text.family(name, "summary", help);
  for (const double p : kShown) {
    text.sample("", {{"quantile", format("{:g}", p / 100)}}, series.percentile(p) * scale);
  }
  text.sample("_sum", {}, series.total * scale);
  text.sample("_count", {}, static_cast<double>(series.count));
}

void gauge(PrometheusText& text, std::string_view name, std::string_view help, double value) {
  text.family(name, "gauge", help);
  text.sample("", {}, value);
}

void counter(PrometheusText& text, std::string_view name, std::string_view help,
             std::uint64_t value) {
  text.family(name, "counter", help);
  text.sample("", {}, static_cast<double>(value));
}

// Quantiles only: a live run keeps no sum.
void live_quantiles(PrometheusText& text, std::string_view name, std::string_view help,
                    const metrics::LivePercentiles& series) {
  if (series.count == 0) return;
  text.family(name, "gauge", help);
  const std::pair<const char*, Duration> all[] = {
      {"0.5", series.p50}, {"0.9", series.p90}, {"0.99", series.p99}};
  for (const auto& [quantile, value] : all) {
    text.sample("", {{"quantile", quantile}}, value.seconds());
  }
}

class PrometheusExporter final : public Exporter {
 public:
  using Exporter::Exporter;
  std::string finish(const metrics::Point& point) override { return prometheus_text(point); }

 private:
  void add(const metrics::Reply&) override {}
};

}  // namespace

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  text_ += format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void PrometheusText::sample(std::string_view suffix, const PrometheusLabels& labels, double value) {
  std::string all;
  for (const PrometheusLabels* const list :
       {static_cast<const PrometheusLabels*>(&common_), &labels}) {
    for (const auto& [key, text] : *list) {
      all += format("{}{}=\"{}\"", all.empty() ? "" : ",", key, escaped(text));
    }
  }
  text_ += family_;
  text_ += suffix;
  if (!all.empty()) text_ += "{" + all + "}";
  text_ += " " + json_number(value) + "\n";
}

std::string prometheus_text(const metrics::Point& point) {
  PrometheusText text(common_labels(point.run.facts));
  text.family("assay_run_info", "gauge", "The run that these figures are of.");
  text.sample("",
              {{"run_id", point.run.run_id},
               {"version", point.run.version},
               {"state", std::string(to_string(point.end.state))},
               {"plan_digest", point.run.plan_digest},
               {"token_source", metrics::token_source_text(point.tokens)}},
              1);
  counter(text, "assay_queries_issued_total", "Queries that were begun.", point.counts.issued);
  counter(text, "assay_queries_completed_total", "Queries that succeeded.", point.counts.completed);
  text.family("assay_queries_failed_total", "counter", "Queries that failed, by kind.");
  for (const metrics::Failures& failures : point.failures) {
    text.sample("", {{"outcome", std::string(to_string(failures.outcome))}},
                static_cast<double>(failures.count));
  }
  const metrics::Latencies& l = point.arrival;
  summary(text, "assay_ttft_seconds", "Request sent to first token.", l.ttft, 1e-9);
  summary(text, "assay_ttft_due_seconds", "The same from when it was due.", l.ttft_due, 1e-9);
  summary(text, "assay_tpot_seconds", "Time per output token after the first.", l.tpot, 1e-9);
  summary(text, "assay_itl_seconds", "Gap between two fragments of a reply.", l.itl, 1e-9);
  summary(text, "assay_latency_seconds", "Request sent to reply complete.", l.latency, 1e-9);
  summary(text, "assay_latency_due_seconds", "The same from when it was due.", l.latency_due, 1e-9);
  summary(text, "assay_send_lateness_seconds", "Sent later than due.", point.lateness, 1e-9);
  summary(text, "assay_input_tokens", "Input tokens of a query.", point.isl, 1);
  summary(text, "assay_output_tokens", "Output tokens of a reply.", point.osl, 1);
  gauge(text, "assay_run_duration_seconds", "What the rates are over.",
        point.rates.duration.seconds());
  gauge(text, "assay_queries_per_second", "Completed queries a second.", point.rates.qps);
  if (point.rates.tps) {
    gauge(text, "assay_output_tokens_per_second", "Output tokens a second.", *point.rates.tps);
  }
  return text.text();
}

std::string prometheus_text(const metrics::LiveSnapshot& live, const Json& facts) {
  PrometheusLabels labels = common_labels(facts);
  if (!live.phase.empty()) labels.emplace_back("phase", live.phase);
  PrometheusText text(labels);
  gauge(text, "assay_up", "1 while the run goes on.", 1);
  gauge(text, "assay_phase_elapsed_seconds", "Since the phase began.", live.elapsed.seconds());
  // Counters of the phase: they restart with the next phase, which is in the label.
  counter(text, "assay_queries_sent_total", "Queries sent.", live.sent);
  counter(text, "assay_queries_completed_total", "Queries that succeeded.", live.completed);
  text.family("assay_queries_failed_total", "counter", "Queries that failed, by kind.");
  for (const metrics::LiveFailures& failures : live.failures) {
    text.sample("", {{"outcome", std::string(to_string(failures.outcome))}},
                static_cast<double>(failures.count));
  }
  gauge(text, "assay_queries_in_flight", "Sent and not yet ended.",
        static_cast<double>(live.in_flight));
  gauge(text, "assay_offered_queries_per_second", "Fell due, over the last 10 s.",
        live.offered_qps);
  gauge(text, "assay_achieved_queries_per_second", "Were sent, over the last 10 s.",
        live.achieved_qps);
  gauge(text, "assay_completed_queries_per_second", "Succeeded, over the last 10 s.",
        live.completed_qps);
  gauge(text, "assay_output_tokens_per_second", "Output tokens, over the last 10 s.",
        live.output_tps);
  live_quantiles(text, "assay_ttft_seconds", "Request sent to first token, of the phase.",
                 live.ttft);
  live_quantiles(text, "assay_tpot_seconds", "Time per output token after the first.", live.tpot);
  live_quantiles(text, "assay_send_lateness_seconds", "Sent later than due.", live.lateness);
  return text.text();
}

std::unique_ptr<Exporter> make_prometheus_exporter(const RunInfo& info) {
  return std::make_unique<PrometheusExporter>(info);
}

}  // namespace assay::interchange
