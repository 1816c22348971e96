#include "apps/cli/simulate/simulate_words.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/length.h"

namespace assay::cli {
namespace {

Result<sim::LengthDraw> lengths(const std::string& text, const char* flag) {
  auto spec = dataset::parse_length(text);
  if (!spec) return spec.error().within(flag);
  return sim::LengthDraw([spec = *spec](Rng& rng) {
    return static_cast<std::uint32_t>(dataset::draw_length(spec, rng));
  });
}

std::string ms(double value) { return human_duration(Duration::from_seconds(value * 1e-3)); }

}  // namespace

void SystemFlags::add_to(Flags& flags) {
  flags.add("--model", &scenario.model, "what is served").value("NAME");
  flags.add("--hardware", &scenario.hardware, "on which accelerator").value("NAME");
  flags.add("--scenario", &file, "a file that says all of it: docs/formats/scenario.md")
      .value("FILE");
  flags.add("--backend", &scenario.backend, "vllm, sglang or tensorrt-llm").value("NAME");
  flags.add("--precision", &scenario.precision, "bf16, fp8, nvfp4 or mxfp4; else the usual")
      .value("WORD");
  flags.add("--gpus", &gpus, "accelerators in all; else one worker's").value("N").without_default();
  flags.add("--parallel", &scenario.parallel, "one worker's layout: tp=8,dp=1,ep=1,pp=1")
      .value("LAYOUT");
  flags
      .add("--disagg", &scenario.disagg,
           "prefill and decode apart: 4P+1D, or with layouts 4P:tp=4+1D:dp=32,ep=32")
      .value("SPLIT");
  flags
      .add("--decode-batch", &decode_batch,
           "with --disagg: sequences of one rank of a decode worker; else as the recipes")
      .value("N")
      .without_default();
  flags
      .add("--router", &scenario.router,
           "round_robin, random, least_loaded, power_of_two or kv_aware")
      .value("WORD");
  flags.add("--mtp", &mtp, "drafts of multi-token prediction; else as the measured recipe")
      .value("N");
  flags.add("--acceptance", &acceptance, "chance of each draft, given the one before: 0.8,0.6")
      .value("LIST");
  flags.add("--isl", &isl, "prompt tokens: 1024, uniform:819-1024, normal:512,64").value("LENGTH");
  flags.add("--osl", &osl, "output tokens, in the same form").value("LENGTH");
  flags
      .add("--seed", &seed,
           "of lengths, as --run-seed of `assay run`, and of a system given by flags")
      .value("N");
  flags.add("--no-prefix-cache", &no_prefix_cache, "never reuse the KV of a common prefix");
  flags.add("--catalogue", &catalogue, "a file or folder with hardware, models, backends of yours")
      .value("PATH");
}

Result<sim::Scenario> SystemFlags::resolve() const {
  if (!file.empty()) {
    if (!scenario.model.empty() || !scenario.hardware.empty()) {
      return invalid("--scenario: takes the place of --model, --hardware and the like");
    }
    return sim::read_scenario_file(file);
  }
  if (scenario.model.empty()) return invalid("--model: is required, or --scenario");
  if (scenario.hardware.empty()) return invalid("--hardware: is required, or --scenario");
  sim::Scenario out = scenario;
  if (gpus < 0 || gpus > 100'000) return invalid("--gpus: from 1 to 100,000");
  out.gpus = static_cast<std::uint32_t>(gpus);
  if (mtp) {
    if (*mtp < 0 || *mtp > 8) return invalid("--mtp: from 0 to 8 drafts");
    out.mtp = static_cast<std::uint32_t>(*mtp);
  }
  if (decode_batch < 0 || decode_batch > 1'000'000) {
    return invalid("--decode-batch: from 1 to 1,000,000");
  }
  if (decode_batch > 0 && scenario.disagg.empty()) {
    return invalid("--decode-batch: needs --disagg; an aggregated worker's batch is its backend's");
  }
  out.decode_batch = static_cast<std::uint32_t>(decode_batch);
  if (!acceptance.empty()) {
    for (const std::string_view part : split(acceptance, ',')) {
      const auto value = parse_double(trim(part));
      if (!value) return value.error().within("--acceptance");
      out.acceptance.push_back(*value);
    }
  }
  out.seed = static_cast<std::uint64_t>(seed);
  out.prefix_cache = !no_prefix_cache;
  return out;
}

Result<sim::Workload> SystemFlags::workload() const {
  sim::Workload out;
  ASSIGN_OR_RETURN(out.input, lengths(isl, "--isl"));
  ASSIGN_OR_RETURN(out.output, lengths(osl, "--osl"));
  return out;
}

Result<sim::Catalogue> SystemFlags::read_catalogue() const {
  sim::Catalogue out = sim::Catalogue::builtin();
  for (const std::string& path : catalogue) TRY(out.add(path));
  return out;
}

Result<std::vector<std::uint32_t>> concurrency_levels(const std::string& text) {
  std::vector<std::uint32_t> out;
  if (text == "sweep") {
    for (std::uint32_t c = 1; c <= 2048; c *= 2) out.push_back(c);
    return out;
  }
  for (const std::string_view part : split(text, ',')) {
    const auto value = parse_uint(trim(part));
    if (!value || *value == 0 || *value > 1'000'000) {
      return invalid(format("--concurrency: '{}' is not a whole number from 1", part));
    }
    out.push_back(static_cast<std::uint32_t>(*value));
  }
  return out;
}

Json point_json(const sim::SimPoint& p) {
  Json out;
  if (p.concurrency > 0) out.set("concurrency", static_cast<std::int64_t>(p.concurrency));
  if (p.rate > 0) out.set("rate", p.rate);
  const auto series = [&out](std::string_view name, const sim::SimSeries& s) {
    out.set(format("{}_ms_mean", name), s.mean);
    out.set(format("{}_ms_p50", name), s.p50);
    out.set(format("{}_ms_p90", name), s.p90);
    out.set(format("{}_ms_p99", name), s.p99);
  };
  series("ttft", p.ttft_ms);
  series("tpot", p.tpot_ms);
  series("latency", p.latency_ms);
  if (p.decode_batch > 0) out.set("decode_batch", p.decode_batch);
  out.set("system_tps", p.system_tps)
      .set("tps_per_user", p.tps_per_user)
      .set("tps_per_gpu", p.tps_per_gpu)
      .set("input_tps", p.input_tps)
      .set("qps", p.qps)
      .set("gpus", p.gpus)
      .set("queries", p.queries)
      .set("refused", p.refused)
      .set("isl_mean", p.input_tokens_mean)
      .set("osl_mean", p.output_tokens_mean)
      .set("in_flight_mean", p.in_flight_mean)
      .set("kv_usage_max", p.kv_usage_max)
      .set("prefix_hit_rate", p.prefix_hit_rate)
      .set("preemptions", p.preemptions)
      .set("watts_mean", p.watts_mean)
      .set("joules_per_token", p.joules_per_token)
      .set("steps", p.steps);
  return out;
}

std::string points_table(const std::vector<sim::SimPoint>& points) {
  std::string out;
  const auto row = [&out](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += pad_left(cell, 14);
    out += "\n";
  };
  row({"concurrency", "output tok/s", "tok/s/user", "tok/s/GPU", "TTFT mean", "TTFT P90",
       "TPOT mean", "TPOT P90", "J/token"});
  for (const sim::SimPoint& p : points) {
    row({p.rate > 0 ? format("{}/s", three_digits(p.rate)) : three_digits(p.concurrency),
         three_digits(p.system_tps), three_digits(p.tps_per_user), three_digits(p.tps_per_gpu),
         ms(p.ttft_ms.mean), ms(p.ttft_ms.p90), ms(p.tpot_ms.mean), ms(p.tpot_ms.p90),
         three_digits(p.joules_per_token)});
  }
  return out;
}

}  // namespace assay::cli
