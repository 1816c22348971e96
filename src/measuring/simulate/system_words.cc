#include "simulate/system_words.h"

#include "base/format.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "dataset/length.h"

namespace assay::simulate {
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

Result<sim::Scenario> SystemWords::resolve() const {
  if (!file.empty()) {
    if (!scenario.model.empty() || !scenario.hardware.empty()) {
      return invalid("--scenario: takes the place of --model, --hardware and the like");
    }
    return sim::read_scenario_file(file);
  }
  if (scenario.model.empty()) return invalid("--model: is required, or --scenario FILE");
  if (scenario.hardware.empty()) return invalid("--hardware: is required, or --scenario FILE");
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

Result<sim::Workload> SystemWords::workload(const sim::Catalogue& known) const {
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

std::string SystemWords::lengths_text(const sim::Catalogue& known) const {
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

Result<sim::Catalogue> SystemWords::read_catalogue() const {
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

}  // namespace assay::simulate
