#include "endpoint/stats.h"

#include "base/format.h"
#include "base/json.h"

namespace assay::endpoint {
namespace {

constexpr double kPartsPerMillion = 1e6;

class Page {
 public:
  Page(std::span<const WorkerStats* const> workers, std::string_view model)
      : workers_(workers), labels_(format("engine=\"0\",model_name={}", json_quote(model))) {}

  void gauge(std::string_view name, std::string_view help, Count WorkerStats::*member,
             double scale = 1) {
    head(name, help, "gauge");
    text_ += format("{}{{{}}} {}\n", name, labels_,
                    json_number(static_cast<double>(total(member)) * scale));
  }
  void counter(std::string_view name, std::string_view help, Count WorkerStats::*member) {
    head(name, help, "counter");
    text_ += format("{}{{{}}} {}\n", name, labels_, total(member));
  }
  template <const auto& Bounds>
  void histogram(std::string_view name, std::string_view help,
                 SecondsHistogram<Bounds> WorkerStats::*member) {
    head(name, help, "histogram");
    std::uint64_t below = 0;
    std::uint64_t sum_ns = 0;
    for (std::size_t i = 0; i <= Bounds.size(); ++i) {
      for (const WorkerStats* worker : workers_) below += (worker->*member).bucket(i);
      const std::string bound = i < Bounds.size() ? json_number(Bounds[i]) : "+Inf";
      text_ += format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels_, bound, below);
    }
    for (const WorkerStats* worker : workers_) sum_ns += (worker->*member).sum_ns();
    text_ +=
        format("{}_sum{{{}}} {}\n", name, labels_, json_number(static_cast<double>(sum_ns) * 1e-9));
    text_ += format("{}_count{{{}}} {}\n", name, labels_, below);
  }
  void finished() {
    constexpr std::string_view kName = "vllm:request_success_total";
    head(kName, "Requests served to their end, by finish reason.", "counter");
    for (const FinishReason reason :
         {FinishReason::stop, FinishReason::length, FinishReason::tool_calls}) {
      std::uint64_t sum = 0;
      for (const WorkerStats* worker : workers_) {
        sum += worker->finished[static_cast<std::size_t>(reason)].get();
      }
      text_ +=
          format("{}{{{},finished_reason=\"{}\"}} {}\n", kName, labels_, to_string(reason), sum);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void head(std::string_view name, std::string_view help, std::string_view type) {
    text_ += format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  std::uint64_t total(Count WorkerStats::*member) const {
    std::uint64_t sum = 0;
    for (const WorkerStats* worker : workers_) sum += (worker->*member).get();
    return sum;
  }

  std::span<const WorkerStats* const> workers_;
  std::string labels_;
  std::string text_{};
};

}  // namespace

void WorkerStats::set_engine(const sim::EngineStats& engine) {
  running.set(engine.running);
  waiting.set(engine.waiting);
  kv_usage_ppm.set(static_cast<std::uint64_t>(engine.kv_usage * kPartsPerMillion + 0.5));
  prefix_hit_tokens.set(engine.prefix_hit_tokens);
  prefix_query_tokens.set(engine.prefix_query_tokens);
  preemptions.set(engine.preemptions);
}

std::string metrics_page(std::span<const WorkerStats* const> workers, std::string_view model) {
  const double share = 1 / kPartsPerMillion / static_cast<double>(workers.size());
  Page page(workers, model);
  page.gauge("vllm:num_requests_running", "Requests that are being answered.",
             &WorkerStats::running);
  page.gauge("vllm:num_requests_waiting", "Requests that wait in line.", &WorkerStats::waiting);
  page.gauge("vllm:kv_cache_usage_perc", "KV cache in use, 1 is all of it.",
             &WorkerStats::kv_usage_ppm, share);
  page.counter("vllm:prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.",
               &WorkerStats::prefix_query_tokens);
  page.counter("vllm:prefix_cache_hits_total", "Prompt tokens found in the prefix cache.",
               &WorkerStats::prefix_hit_tokens);
  page.counter("vllm:num_preemptions_total", "Requests put back for want of KV cache.",
               &WorkerStats::preemptions);
  page.counter("vllm:prompt_tokens_total", "Prompt tokens taken.", &WorkerStats::prompt_tokens);
  page.counter("vllm:generation_tokens_total", "Tokens generated.", &WorkerStats::output_tokens);
  page.finished();
  page.histogram("vllm:time_to_first_token_seconds", "From a request to its first token.",
                 &WorkerStats::ttft);
  page.histogram("vllm:inter_token_latency_seconds", "Between two events of one request.",
                 &WorkerStats::itl);
  page.histogram("vllm:e2e_request_latency_seconds", "From a request to its last token.",
                 &WorkerStats::latency);
  page.counter("assay:requests_total", "Requests for tokens, whatever came of them.",
               &WorkerStats::requests);
  page.counter("assay:events_total", "Stream events handed to the kernel.", &WorkerStats::events);
  return page.take();
}

}  // namespace assay::endpoint
