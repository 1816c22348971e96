// vLLM's result file, written with --save-detailed. Instants are seconds of the tool's own clock.
// ttfts, itls and latencies are defined as in metrics/definitions/vllm.cc, so a reply's fragments
// here are that tool's events with choices.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_numbers.h"
#include "interchange/read/foreign_run.h"

namespace assay::interchange {
namespace {

// Keys that the log holds or implies. All other keys are kept as they stand.
constexpr std::array<std::string_view, 28> kKnown = {"date",
                                                     "endpoint_type",
                                                     "backend",
                                                     "label",
                                                     "model_id",
                                                     "tokenizer_id",
                                                     "num_prompts",
                                                     "request_rate",
                                                     "max_concurrency",
                                                     "duration",
                                                     "completed",
                                                     "failed",
                                                     "input_lens",
                                                     "output_lens",
                                                     "ttfts",
                                                     "itls",
                                                     "start_times",
                                                     "generated_texts",
                                                     "errors",
                                                     "total_input_tokens",
                                                     "total_output_tokens",
                                                     "burstiness",
                                                     "request_throughput",
                                                     "output_throughput",

                                                     "request_goodput",
                                                     "total_token_throughput",

                                                     "max_concurrent_requests",
                                                     "max_output_tokens_per_s"};

bool is_statistic(std::string_view key) {
  return key.ends_with("_ttft_ms") || key.ends_with("_tpot_ms") || key.ends_with("_itl_ms") ||
         key.ends_with("_e2el_ms");
}

constexpr double kSecond = 1e9;

Json vllm_facts(const Json& file) {
  Json fields = Json::object();
  for (const auto& [key, value] : file.members()) {
    const bool known = std::ranges::find(kKnown, key) != kKnown.end() || is_statistic(key);
    if (!known) fields.set(key, value);
  }
  // `api` is derived from it.
  if (file["backend"].is_string()) fields.set("backend", file["backend"]);
  Json pattern;
  const Json& rate = file["request_rate"];
  const Json& concurrency = file["max_concurrency"];
  pattern.set("type", rate.is_number()          ? "poisson"
                      : concurrency.is_number() ? "concurrency"
                                                : "max_throughput");
  pattern.set("target_qps", rate.is_number() ? rate : Json(nullptr));
  pattern.set("target_concurrency", concurrency.is_number() ? concurrency : Json(nullptr));
  const Json& backend = file["backend"].is_string() ? file["backend"] : file["endpoint_type"];
  return Json()
      .set("model", file["model_id"])
      .set("api", backend.is_string() ? Json(foreign_api(backend.as_string())) : backend)
      .set("streaming", true)
      .set("run_config", Json().set("load_pattern", std::move(pattern)))
      .set("imported", Json().set("format", "vllm").set("fields", std::move(fields)));
}

Result<ForeignReply> vllm_reply(const Json& file, std::size_t i) {
  ForeignReply out;
  Event& event = out.event;
  event.query.index = event.query.sample = static_cast<std::uint32_t>(i);
  ASSIGN_OR_RETURN(const Duration start,
                   foreign_time(file["start_times"][i], kSecond, format("start_times[{}]", i)));
  event.due = event.sent = Instant{} + start;
  ASSIGN_OR_RETURN(event.usage.prompt_tokens,
                   foreign_count(file["input_lens"][i], format("input_lens[{}]", i)));
  out.detail = file["errors"][i].as_string();
  ASSIGN_OR_RETURN(const Duration ttft,
                   foreign_time(file["ttfts"][i], kSecond, format("ttfts[{}]", i)));
  const bool failed = !out.detail.empty() || ttft == Duration{};
  if (failed) {
    // The file has neither the time nor the kind of the failure.
    event.outcome = Outcome::bad_reply;
    event.done = event.sent;
    if (out.detail.empty()) out.detail = "no first token in the file";
    return out;
  }
  ASSIGN_OR_RETURN(event.usage.completion_tokens,
                   foreign_count(file["output_lens"][i], format("output_lens[{}]", i)));
  out.text = file["generated_texts"][i].as_string();
  // The sum is in seconds and each value is rounded once: fractions of a nanosecond are not lost in
  // the sum.
  double at = file["start_times"][i].as_double() + file["ttfts"][i].as_double();
  const std::string where = format("itls[{}]", i);
  if (!file["itls"][i].is_array()) return invalid(where + ": not a list");
  ASSIGN_OR_RETURN(const Duration first, foreign_time(Json(at), kSecond, where));
  add_fragment(out, Instant{} + first);
  for (const Json& gap : file["itls"][i].items()) {
    TRY(foreign_time(gap, kSecond, where));
    at += gap.as_double();
    ASSIGN_OR_RETURN(const Duration since, foreign_time(Json(at), kSecond, where));
    add_fragment(out, Instant{} + since);
  }
  event.done = out.events.back().arrival;
  return out;
}

}  // namespace

Result<ForeignRun> read_vllm_json(std::string_view text) {
  ASSIGN_OR_RETURN(const Json file, Json::parse(text));
  for (const char* const key : {"start_times", "ttfts", "itls", "input_lens", "output_lens"}) {
    if (file.find(key) != nullptr) continue;
    return invalid(
        format("{}: missing\n  write the file with --save-detailed (vLLM 0.11 or later)", key));
  }
  const std::size_t n = file["ttfts"].size();
  for (const char* const key : {"start_times", "itls", "input_lens", "output_lens"}) {
    if (file[key].size() != n) {
      return invalid(format("{}: {} values where ttfts has {}", key, file[key].size(), n));
    }
  }
  ForeignRun out;
  out.info.phases = {{PhaseKind::performance, "performance", file["request_rate"].is_number()}};
  out.info.facts = vllm_facts(file);
  for (std::size_t i = 0; i < n; ++i) {
    ASSIGN_OR_RETURN(ForeignReply reply, vllm_reply(file, i));
    out.replies.push_back(std::move(reply));
  }
  return out;
}

}  // namespace assay::interchange
