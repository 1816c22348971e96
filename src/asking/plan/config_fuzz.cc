// Any bytes as a config: errors or a config, never a crash. An accepted config is written and read
// back as the same config; if its dataset is known, a plan is made of it.
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "plan/config_reader.h"
#include "plan/make_plan.h"
#include "plan/saved_config.h"

namespace {

assay::Result<assay::plan::LoadedConfig> load(std::string_view yaml) {
  assay::plan::ConfigReader reader(
      [](const std::string& name) -> std::optional<std::string> {
        if (name == "A") return "value";
        return std::nullopt;
      },
      1000);
  reader.read_text(yaml, "fuzz.yaml");
  return reader.finish();
}

// True if a schedule for each input is cheap.
bool is_small(const assay::plan::Config& config) {
  const auto& settings = config.settings;
  for (const auto& data : config.datasets) {
    if (data.accuracy_config && data.accuracy_config->num_repeats > 1000) return false;
  }
  return settings.runtime.n_samples_to_issue.value_or(10'000) < 1000 &&
         settings.warmup.n_requests.value_or(0) < 1000 &&
         (!settings.load_pattern.ramp || settings.load_pattern.ramp->steps < 1000);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto loaded = load(text);
  if (!loaded) {
    CHECK(!loaded.error().message.empty());
    return 0;
  }
  const std::string saved = assay::plan::config_to_yaml(loaded->config);
  if (saved.find("<redacted>") == std::string::npos) {
    const auto again = load(saved);
    CHECK(again);
    CHECK(assay::plan::config_to_yaml(again->config) == saved);
  }
  if (!is_small(loaded->config)) return 0;
  std::vector<assay::Dataset> datasets(loaded->config.datasets.size());
  for (assay::Dataset& dataset : datasets) dataset.samples = {{.prompt = "a"}, {.prompt = "b"}};
  const auto bundle = assay::plan::make_plan(loaded->config, std::move(datasets));
  if (bundle) CHECK(assay::plan::plan_digest(*bundle).size() == 64);
  return 0;
}
