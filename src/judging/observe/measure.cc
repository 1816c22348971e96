#include "observe/measure.h"

#include <array>

namespace assay::observe {
namespace {

using enum MeasureKind;
using enum Together;

constexpr std::array kMeasures = {
    Measure{"requests_running", "requests running", "", gauge, sum, true},
    Measure{"requests_waiting", "requests waiting", "", gauge, sum},
    Measure{"kv_cache_share", "KV cache in use", "share", gauge, mean},
    Measure{"prompt_tokens", "prompt tokens", "tokens", counter, sum},
    Measure{"cached_tokens", "prompt tokens from the cache", "tokens", counter, sum},
    Measure{"prefix_queried_tokens", "tokens looked up in the prefix cache", "tokens", counter,
            sum},
    Measure{"prefix_hit_tokens", "tokens found in the prefix cache", "tokens", counter, sum},
    Measure{"output_tokens", "output tokens", "tokens", counter, sum, true},
    Measure{"preemptions", "preemptions", "", counter, sum},
    Measure{"requests_finished", "requests finished", "", counter, sum},
    Measure{"queue_time_s", "time in the server's queue", "s", histogram, sum},
    Measure{"prefill_time_s", "time of prefill", "s", histogram, sum},
    Measure{"decode_time_s", "time of decode", "s", histogram, sum},
    Measure{"ttft_s", "the server's TTFT", "s", histogram, sum},
    Measure{"itl_s", "the server's ITL", "s", histogram, sum},
    Measure{"latency_s", "the server's latency", "s", histogram, sum},
    Measure{"step_tokens", "tokens a step", "tokens", histogram, sum},
    Measure{"gpu_power_w", "GPU power", "W", gauge, sum, true},
    Measure{"gpu_energy_j", "GPU energy", "J", counter, sum, true},
    Measure{"gpu_busy_share", "GPU busy", "share", gauge, mean},
    Measure{"gpu_memory_bytes", "GPU memory in use", "bytes", gauge, sum},
    Measure{"gpu_clock_mhz", "GPU clock", "MHz", gauge, mean},
    Measure{"gpu_temperature_c", "GPU temperature", "°C", gauge, mean},
    Measure{"cpu_energy_j", "CPU energy", "J", counter, sum},
    Measure{"memory_energy_j", "memory energy", "J", counter, sum},
    Measure{"cpu_busy_s", "CPU time, all cores", "s", counter, sum},
    Measure{"cpu_stolen_s", "CPU time stolen", "s", counter, sum},
    Measure{"tcp_retransmits", "TCP segments sent again", "", counter, sum},
    Measure{"meter_power_w", "power by the meter", "W", gauge, sum, true},
    Measure{"meter_voltage_v", "voltage by the meter", "V", gauge, mean},
    Measure{"meter_current_a", "current by the meter", "A", gauge, mean},
    Measure{"meter_energy_j", "energy by the meter", "J", counter, sum, true},
};

constexpr double kMilli = 1e-3;
constexpr double kMiB = 1024.0 * 1024.0;

constexpr std::array kNames = {
    NameRow{"vllm", "vllm:num_requests_running", "requests_running"},
    NameRow{"vllm", "vllm:num_requests_waiting", "requests_waiting"},
    NameRow{"vllm", "vllm:kv_cache_usage_perc", "kv_cache_share"},
    NameRow{"vllm", "vllm:gpu_cache_usage_perc", "kv_cache_share"},
    NameRow{"vllm", "vllm:prompt_tokens_total", "prompt_tokens"},
    NameRow{"vllm", "vllm:prompt_tokens_cached_total", "cached_tokens"},
    NameRow{"vllm", "vllm:prefix_cache_queries_total", "prefix_queried_tokens"},
    NameRow{"vllm", "vllm:prefix_cache_hits_total", "prefix_hit_tokens"},
    NameRow{"vllm", "vllm:generation_tokens_total", "output_tokens"},
    NameRow{"vllm", "vllm:num_preemptions_total", "preemptions"},
    NameRow{"vllm", "vllm:request_success_total", "requests_finished"},
    NameRow{"vllm", "vllm:request_queue_time_seconds", "queue_time_s"},
    NameRow{"vllm", "vllm:request_prefill_time_seconds", "prefill_time_s"},
    NameRow{"vllm", "vllm:request_decode_time_seconds", "decode_time_s"},
    NameRow{"vllm", "vllm:time_to_first_token_seconds", "ttft_s"},
    NameRow{"vllm", "vllm:inter_token_latency_seconds", "itl_s"},
    NameRow{"vllm", "vllm:time_per_output_token_seconds", "itl_s"},
    NameRow{"vllm", "vllm:e2e_request_latency_seconds", "latency_s"},
    NameRow{"vllm", "vllm:iteration_tokens_total", "step_tokens"},

    NameRow{"sglang", "sglang:num_running_reqs", "requests_running"},
    NameRow{"sglang", "sglang:num_queue_reqs", "requests_waiting"},
    NameRow{"sglang", "sglang:token_usage", "kv_cache_share"},
    NameRow{"sglang", "sglang:prompt_tokens_total", "prompt_tokens"},
    NameRow{"sglang", "sglang:cached_tokens_total", "cached_tokens"},
    NameRow{"sglang", "sglang:generation_tokens_total", "output_tokens"},
    // The gauge sglang:num_retracted_reqs is another thing: those that are out now.
    NameRow{"sglang", "sglang:num_retracted_requests_total", "preemptions"},
    NameRow{"sglang", "sglang:num_requests_total", "requests_finished"},
    NameRow{"sglang", "sglang:queue_time_seconds", "queue_time_s"},
    NameRow{"sglang", "sglang:time_to_first_token_seconds", "ttft_s"},
    NameRow{"sglang", "sglang:inter_token_latency_seconds", "itl_s"},
    NameRow{"sglang", "sglang:e2e_request_latency_seconds", "latency_s"},

    NameRow{"trtllm", "trtllm_num_requests_running", "requests_running"},
    NameRow{"trtllm", "trtllm:num_requests_running", "requests_running"},
    NameRow{"trtllm", "trtllm_num_requests_waiting", "requests_waiting"},
    NameRow{"trtllm", "trtllm:num_requests_waiting", "requests_waiting"},
    NameRow{"trtllm", "trtllm_kv_cache_utilization", "kv_cache_share"},
    NameRow{"trtllm", "trtllm:kv_cache_utilization", "kv_cache_share"},
    NameRow{"trtllm", "trtllm_prompt_tokens_total", "prompt_tokens"},
    NameRow{"trtllm", "trtllm_prompt_cached_tokens_total", "cached_tokens"},
    NameRow{"trtllm", "trtllm_generation_tokens_total", "output_tokens"},
    NameRow{"trtllm", "trtllm_request_success_total", "requests_finished"},
    NameRow{"trtllm", "trtllm:request_success_total", "requests_finished"},
    NameRow{"trtllm", "trtllm_request_queue_time_seconds", "queue_time_s"},
    NameRow{"trtllm", "trtllm:request_queue_time_seconds", "queue_time_s"},
    NameRow{"trtllm", "trtllm_time_to_first_token_seconds", "ttft_s"},
    NameRow{"trtllm", "trtllm:time_to_first_token_seconds", "ttft_s"},
    NameRow{"trtllm", "trtllm_e2e_request_latency_seconds", "latency_s"},
    NameRow{"trtllm", "trtllm:e2e_request_latency_seconds", "latency_s"},

    NameRow{"triton", "nv_trt_llm_request_metrics", "requests_running", 1, "request_type",
            "scheduled"},
    NameRow{"triton", "nv_trt_llm_request_metrics", "requests_waiting", 1, "request_type",
            "waiting"},
    NameRow{"triton", "nv_trt_llm_kv_cache_block_metrics", "kv_cache_share", 1,
            "kv_cache_block_type", "fraction"},

    NameRow{"tgi", "tgi_batch_current_size", "requests_running"},
    NameRow{"tgi", "tgi_queue_size", "requests_waiting"},
    NameRow{"tgi", "tgi_request_success", "requests_finished"},
    NameRow{"tgi", "tgi_request_queue_duration", "queue_time_s"},
    NameRow{"tgi", "tgi_request_mean_time_per_token_duration", "itl_s"},
    NameRow{"tgi", "tgi_request_duration", "latency_s"},

    // Its prompt tokens are without the cached ones where it counts those.
    NameRow{"llama.cpp", "llamacpp:requests_processing", "requests_running"},
    NameRow{"llama.cpp", "llamacpp:requests_deferred", "requests_waiting"},
    NameRow{"llama.cpp", "llamacpp:prompt_tokens_cached_total", "cached_tokens"},
    NameRow{"llama.cpp", "llamacpp:tokens_predicted_total", "output_tokens"},

    NameRow{"dcgm", "DCGM_FI_DEV_POWER_USAGE_INSTANT", "gpu_power_w"},
    NameRow{"dcgm", "DCGM_FI_DEV_POWER_USAGE", "gpu_power_w"},
    NameRow{"dcgm", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu_energy_j", kMilli},
    NameRow{"dcgm", "DCGM_FI_DEV_GPU_UTIL", "gpu_busy_share", 0.01},
    NameRow{"dcgm", "DCGM_FI_DEV_FB_USED", "gpu_memory_bytes", kMiB},
    NameRow{"dcgm", "DCGM_FI_DEV_SM_CLOCK", "gpu_clock_mhz"},
    NameRow{"dcgm", "DCGM_FI_DEV_GPU_TEMP", "gpu_temperature_c"},

    // Our own meters (measuring/meter) write their series under these names, in these units.
    NameRow{"nvml", "nvml_power_watts", "gpu_power_w"},
    NameRow{"nvml", "nvml_energy_joules_total", "gpu_energy_j"},
    NameRow{"nvml", "nvml_busy_share", "gpu_busy_share"},
    NameRow{"nvml", "nvml_memory_used_bytes", "gpu_memory_bytes"},
    NameRow{"nvml", "nvml_sm_clock_mhz", "gpu_clock_mhz"},
    NameRow{"nvml", "nvml_temperature_celsius", "gpu_temperature_c"},
    NameRow{"rapl", "rapl_energy_joules_total", "cpu_energy_j", 1, "zone", "package"},
    NameRow{"rapl", "rapl_energy_joules_total", "memory_energy_j", 1, "zone", "dram"},
    NameRow{"host", "host_cpu_busy_seconds_total", "cpu_busy_s"},
    NameRow{"host", "host_cpu_stolen_seconds_total", "cpu_stolen_s"},
    NameRow{"host", "host_tcp_retransmits_total", "tcp_retransmits"},
    NameRow{"meter", "meter_power_watts", "meter_power_w"},
    NameRow{"meter", "meter_volts", "meter_voltage_v"},
    NameRow{"meter", "meter_amps", "meter_current_a"},
    NameRow{"meter", "meter_energy_joules_total", "meter_energy_j"},
};

bool is_first_rank(const Labels& labels) {
  for (const std::string_view rank : {"tp_rank", "pp_rank"}) {
    const std::string_view value = label_of(labels, rank);
    if (!value.empty() && value != "0") return false;
  }
  return true;
}

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

const Measure* find_measure(std::string_view id) {
  for (const Measure& measure : kMeasures) {
    if (measure.id == id) return &measure;
  }
  return nullptr;
}

std::span<const NameRow> name_rows() { return kNames; }

bool row_has(const NameRow& row, std::string_view name, const Labels& labels) {
  if (!name.starts_with(row.name)) return false;
  const std::string_view end = name.substr(row.name.size());
  const Measure* const measure = find_measure(row.measure);
  const bool histogram = measure != nullptr && measure->kind == MeasureKind::histogram;
  if (histogram ? end != "_sum" && end != "_count" : !end.empty()) return false;
  if (!row.label.empty() && label_of(labels, row.label) != row.label_value) return false;
  return is_first_rank(labels);
}

bool worth_keeping(std::string_view name) {
  return !name.ends_with("_bucket") && !name.ends_with("_created");
}

}  // namespace assay::observe
