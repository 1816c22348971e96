#include "cli/simulate/simulate_words.h"

#include "base/format.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "dataset/length.h"

namespace assay::cli {
namespace {

constexpr std::uint32_t kSweepMax = 1 << 20;

Result<sim::LengthDraw> lengths(const std::string& text, const char* flag) {
  auto spec = dataset::parse_length(text);
  if (!spec) return spec.error().within(flag);
  return sim::LengthDraw([spec = *spec](Rng& rng) {
    return static_cast<std::uint32_t>(dataset::draw_length(spec, rng));
  });
}

}  // namespace

void SystemFlags::add_to(Flags& flags) {
  flags
      .add("--model", &scenario.model,
           "what is served: a name of --list models, or the path of a config.json")
      .value("NAME");
  flags.add("--hardware", &scenario.hardware, "on which accelerator; simulate takes a list")
      .value("NAME");
  flags.add("--scenario", &file, "a file that says all of it: docs/formats/scenario.md")
      .value("FILE");
  flags.add("--backend", &scenario.backend, "vllm, sglang or tensorrt-llm").value("NAME");
  flags
      .add("--precision", &scenario.precision,
           "bf16, fp8, nvfp4, mxfp4 or int4; else as the checkpoint, or the card's usual")
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
  flags
      .add("--software", &scenario.software,
           "a generation of serving stacks of --list software; else those that were measured")
      .value("NAME");
  flags.add("--mtp", &mtp, "drafts of multi-token prediction; else as the measured recipe")
      .value("N");
  flags.add("--acceptance", &acceptance, "chance of each draft, given the one before: 0.8,0.6")
      .value("LIST");
  flags
      .add("--isl", &isl,
           "prompt tokens: 1024, uniform:819-1024, normal:512,64; else as the runs of a twin, or "
           "1024")
      .value("LENGTH")
      .without_default();
  flags.add("--osl", &osl, "output tokens, in the same form").value("LENGTH").without_default();
  flags
      .add("--shared-prefix", &prefixes,
           "what prompts share, as --shared-prefix of `assay run`: 1000x4,200x8 (tokens x "
           "branches), "
           "part of --isl")
      .value("TREE");
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

Result<sim::Workload> SystemFlags::workload(const sim::Catalogue& known) const {
  const auto& twin = known.calibration().load;
  sim::Workload out;
  if (twin && isl.empty()) out = sim::workload_of(*twin);
  if (!twin || !isl.empty()) {
    ASSIGN_OR_RETURN(out.input, lengths(isl.empty() ? kLengthElse : isl, "--isl"));
  }
  if (twin && osl.empty()) {
    out.output = sim::workload_of(*twin).output;
  } else {
    ASSIGN_OR_RETURN(out.output, lengths(osl.empty() ? kLengthElse : osl, "--osl"));
  }
  if (prefixes.empty()) return out;
  const auto levels = dataset::parse_prefixes(prefixes);
  if (!levels) return levels.error().within("--shared-prefix");
  for (const dataset::PrefixLevel& level : *levels) {
    out.tree.push_back(
        {static_cast<std::uint32_t>(level.tokens), static_cast<std::uint32_t>(level.branches)});
  }
  return out;
}

std::string SystemFlags::lengths_text(const sim::Catalogue& known) const {
  const auto& twin = known.calibration().load;
  const auto said = [&](const std::string& flag, const sim::LengthClasses* measured) {
    if (!flag.empty()) return flag;
    return measured == nullptr ? std::string(kLengthElse) : sim::describe(*measured);
  };
  std::string out = format("{} tokens in, {} out", said(isl, twin ? &twin->input : nullptr),
                           said(osl, twin ? &twin->output : nullptr));
  if (twin && isl.empty()) {
    if (twin->cached_share > 0) out += format(", {:.0f} % cached", 100 * twin->cached_share);
    out += " (as the twin's runs)";
  }
  if (!prefixes.empty()) out += format(", the first shared: {}", prefixes);
  return out;
}

Result<sim::Catalogue> SystemFlags::read_catalogue() const {
  sim::Catalogue out = sim::Catalogue::builtin();
  for (const std::string& path : catalogue) TRY(out.add(path));
  return out;
}

Result<std::vector<std::uint32_t>> concurrency_levels(const std::string& text) {
  std::vector<std::uint32_t> out;
  if (text == kSweep) {
    for (std::uint32_t c = 1; c <= kSweepMax; c *= 2) out.push_back(c);
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

}  // namespace assay::cli
