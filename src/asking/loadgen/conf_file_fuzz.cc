// No file may crash the reader or a test's settings, and a file that was read is read alike again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/format.h"
#include "loadgen/conf_file.h"
#include "loadgen/settings.h"

using assay::format;
namespace loadgen = assay::loadgen;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto conf = loadgen::ConfFile::parse(text);
  if (!conf) return 0;
  std::string again;
  for (const auto& [key, value] : conf->lines()) again += format("{} = {}\n", key, value);
  const auto reread = loadgen::ConfFile::parse(again);
  CHECK(reread && reread->lines() == conf->lines());
  CHECK(conf->unused_keys().size() <= conf->lines().size());
  for (const std::string_view name : loadgen::scenario_names()) {
    loadgen::TestSettings settings;
    settings.scenario = *loadgen::scenario_named(name);
    if (!conf->apply("bert", settings.scenario, loadgen::ConfKind::built_in, settings)) continue;
    const auto effective = loadgen::effective(settings, {.total = 100, .performance = 64});
    if (effective) CHECK(effective->samples_per_query > 0);
  }
  return 0;
}
