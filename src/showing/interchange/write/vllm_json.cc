// The JSON that `vllm bench serve --save-result --save-detailed` writes, with figures by its
// definitions (metrics/definitions/vllm.cc): seconds in the arrays, ms in the statistics, failures
// as zeros with their error. Unknown keys of an imported run are written again. As in vLLM, std is
// the population's and percentiles are numpy's.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "interchange/write/exporter.h"
#include "metrics/definitions/definition.h"

namespace assay::interchange {
namespace {

double linear_percentile(const std::vector<double>& sorted, double p) {
  if (sorted.empty()) return 0;
  const double place = p / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void add_statistics(Json& out, std::string_view name, std::vector<double> ns) {
  std::ranges::sort(ns);
  const auto n = static_cast<double>(ns.size());
  double sum = 0;
  for (const double value : ns) sum += value;
  const double mean = ns.empty() ? 0 : sum / n;
  double squares = 0;
  for (const double value : ns) squares += (value - mean) * (value - mean);
  out.set(format("mean_{}_ms", name), mean * 1e-6);
  out.set(format("median_{}_ms", name), linear_percentile(ns, 50) * 1e-6);
  out.set(format("std_{}_ms", name), ns.empty() ? 0.0 : std::sqrt(squares / n) * 1e-6);
  for (const int p : {90, 95, 99}) {
    out.set(format("p{}_{}_ms", p, name), linear_percentile(ns, p) * 1e-6);
  }
}

Json seconds(const std::vector<double>& ns) {
  Json out = Json::array();
  for (const double value : ns) out.push_back(value * 1e-9);
  return out;
}

class VllmExporter final : public Exporter {
 public:
  explicit VllmExporter(const RunInfo& info) : Exporter(info, true) {}
  std::string finish(const metrics::Point& point) override;

 private:
  void add(const metrics::Reply& reply) override;
  void add_rates(Json& out, double duration) const;
  std::int64_t peak_tokens() const;
  std::int64_t peak_requests();

  metrics::Figures figures_{};
  std::uint64_t completed_ = 0;
  std::uint64_t failed_ = 0;
  std::int64_t input_tokens_ = 0;
  std::int64_t output_tokens_ = 0;
  std::vector<double> ttft_{};
  std::vector<double> tpot_{};
  std::vector<double> itl_{};
  std::vector<double> latency_{};
  Json input_lens_ = Json::array();
  Json output_lens_ = Json::array();
  Json ttfts_ = Json::array();
  Json itls_ = Json::array();
  Json starts_ = Json::array();
  Json texts_ = Json::array();
  Json errors_ = Json::array();
  std::vector<std::pair<Instant, int>> edges_{};  // begins and ends of requests
  std::vector<Instant> chunks_{};
};

void VllmExporter::add(const metrics::Reply& reply) {
  const Event& event = reply.event;
  figures_.clear();
  metrics::kVllmDefinition.measure(reply, figures_);
  const metrics::Figures& f = figures_;
  const auto prompt = std::max(event.usage.prompt_tokens, 0);
  const std::int64_t tokens = f.success ? f.tokens.value_or(0) : 0;
  ++(f.success ? completed_ : failed_);
  input_lens_.push_back(prompt);
  output_lens_.push_back(tokens);
  starts_.push_back(f.start.known() ? static_cast<double>(f.start.ns) * 1e-9 : 0.0);
  ttfts_.push_back(f.success ? f.ttft.value_or(0) * 1e-9 : 0.0);
  itls_.push_back(seconds(f.success ? f.itl : std::vector<double>{}));
  texts_.push_back(f.success ? std::string(reply.text) : std::string());
  errors_.push_back(f.success ? std::string()
                              : format("{}: {}", to_string(event.outcome), reply.detail));
  if (!f.success) return;
  input_tokens_ += prompt;
  output_tokens_ += tokens;
  if (f.ttft) ttft_.push_back(*f.ttft);
  if (f.tpot) tpot_.push_back(*f.tpot);
  if (f.latency) latency_.push_back(*f.latency);
  itl_.insert(itl_.end(), f.itl.begin(), f.itl.end());
  if (f.start.known() && f.end.known()) {
    edges_.emplace_back(f.start, 1);
    edges_.emplace_back(f.end, -1);
  }
  for (const StreamEvent& e : reply.events) {
    if (metrics::has_choices(e.category)) chunks_.push_back(e.arrival);
  }
}

// Chunks in the fullest second, as vLLM counts them.
std::int64_t VllmExporter::peak_tokens() const {
  std::vector<std::int64_t> buckets;
  for (const Instant at : chunks_) {
    const auto second = static_cast<std::size_t>(std::max(0.0, (at - run_start()).seconds()));
    if (second >= buckets.size()) buckets.resize(second + 1);
    ++buckets[second];
  }
  return buckets.empty() ? 0 : *std::ranges::max_element(buckets);
}

std::int64_t VllmExporter::peak_requests() {
  std::ranges::sort(edges_);  // an end before a begin at the same instant
  std::int64_t now = 0;
  std::int64_t peak = 0;
  for (const auto& [at, change] : edges_) peak = std::max(peak, now += change);
  return peak;
}

void VllmExporter::add_rates(Json& out, double duration) const {
  const auto rate = [duration](double count) { return duration > 0 ? count / duration : 0.0; };
  const auto input = static_cast<double>(input_tokens_);
  const auto output = static_cast<double>(output_tokens_);
  out.set("duration", duration)
      .set("completed", completed_)
      .set("failed", failed_)
      .set("total_input_tokens", input_tokens_)
      .set("total_output_tokens", output_tokens_)
      .set("request_throughput", rate(static_cast<double>(completed_)))
      .set("request_goodput", nullptr)
      .set("output_throughput", rate(output))
      .set("total_token_throughput", rate(input + output));
}

std::string VllmExporter::finish(const metrics::Point& point) {
  const RunInfo& run = point.run;
  const Json& pattern = run.facts["run_config"]["load_pattern"];
  const bool any = run_end().known() && run_end() > run_start();
  // vLLM's names of APIs: its "openai" is completions.
  Json backend = run.facts["api"];
  if (backend.as_string() == "openai") backend = Json("openai-chat");
  if (backend.as_string() == "openai_completions") backend = Json("openai");
  Json out;
  out.set("date", compact_stamp(run.started).replace(8, 1, "-"))
      .set("endpoint_type", backend)
      .set("backend", backend)
      .set("label", nullptr)
      .set("model_id", run.facts["model"])
      .set("tokenizer_id", run.facts["model"])
      .set("token_source", metrics::token_source_text(point.tokens))
      .set("num_prompts", completed_ + failed_)
      .set("request_rate", pattern["target_qps"].is_number() ? pattern["target_qps"] : Json("inf"))
      .set("burstiness", 1.0)
      .set("max_concurrency", pattern["target_concurrency"]);
  add_rates(out, any ? (run_end() - run_start()).seconds() : 0.0);
  out.set("max_output_tokens_per_s", static_cast<double>(peak_tokens()))
      .set("max_concurrent_requests", peak_requests());
  out.set("input_lens", std::move(input_lens_))
      .set("output_lens", std::move(output_lens_))
      .set("ttfts", std::move(ttfts_))
      .set("itls", std::move(itls_))
      .set("start_times", std::move(starts_))
      .set("generated_texts", std::move(texts_))
      .set("errors", std::move(errors_));
  add_statistics(out, "ttft", std::move(ttft_));
  add_statistics(out, "tpot", std::move(tpot_));
  add_statistics(out, "itl", std::move(itl_));
  add_statistics(out, "e2el", std::move(latency_));
  for (const auto& [key, value] : run.facts["imported"]["fields"].members()) {
    if (out.find(key) == nullptr) out.set(key, value);
  }
  return out.dump() + "\n";
}

}  // namespace

std::unique_ptr<Exporter> make_vllm_exporter(const RunInfo& info) {
  return std::make_unique<VllmExporter>(info);
}

}  // namespace assay::interchange
