// Any bytes as a config of MLPerf Client, as a prompt file and as a recorded answer: no reader may
// crash, and what was read is within the limits that the headers promise.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "desk/client_config.h"
#include "desk/prompt_file.h"
#include "desk/series.h"
#include "desk/tool_call.h"

namespace desk = assay::desk;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  if (const auto config = desk::parse_client_config(text)) {
    for (const desk::ClientScenario& one : config->scenarios) {
      CHECK(one.iterations >= 1 && !one.name.empty() && !one.prompts.empty());
      CHECK(one.delay >= assay::Duration{});
    }
  }
  if (const auto calls = desk::tool_calls(text)) {
    for (const desk::ToolCall& one : *calls) {
      CHECK(!one.problem.empty() || (one.input.is_object() && one.input.size() >= 1));
    }
  }
  const auto named = [](std::string_view name) -> assay::Result<std::string> {
    return std::string(name);
  };
  const auto file = desk::parse_prompt_file(text, named);
  if (!file) return 0;
  CHECK(!file->prompts.empty() && file->tokens_max >= 1);
  for (const bool agentic : {false, true}) {
    const auto series = desk::make_series({*file}, {.agentic = agentic, .salt_seed = 1});
    if (!series) continue;
    CHECK(series->rows.size() == series->inferences.size());
    const auto again = desk::series_from(desk::series_facts(*series));
    CHECK(again && again->items == series->items);
  }
  return 0;
}
