// Any bytes as a chat template, rendered with a conversation: an error with a line, or a text, in
// bounded work and memory. A second rendering gives the same text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "text/chat_template.h"
#include "text/jinja_eval.h"
#include "text/jinja_parse.h"

namespace {

using assay::text::jinja::Dict;
using assay::text::jinja::Fault;
using assay::text::jinja::Limits;
using assay::text::jinja::Value;

Dict conversation() {
  const auto json = assay::Json::parse(
      R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":" hi é "},
          {"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"id":"1",
           "type":"function","function":{"name":"f","arguments":{"x":[1,2.5,null,true]}}}]},
          {"role":"tool","content":"7"},{"role":"user","content":[{"type":"text","text":"a"}]}],
          "tools":[{"type":"function","function":{"name":"f","parameters":{}}}],
          "bos_token":"<s>","add_generation_prompt":true,"n":3})");
  CHECK(json);
  Dict out;
  for (const auto& [name, value] : json->members()) out.emplace_back(name, Value::of_json(value));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const Limits limits{.steps_max = 20'000,
                      .output_bytes_max = std::size_t{1} << 18,
                      .work_bytes_max = std::uint64_t{1} << 24};
  try {
    const auto body = assay::text::jinja::parse(source);
    std::string first;
    try {
      first = assay::text::jinja::render(body, conversation(), limits);
    } catch (const Fault& fault) {
      CHECK(!fault.message.empty());
      return 0;
    }
    CHECK(first.size() <= limits.output_bytes_max);
    CHECK(assay::text::jinja::render(body, conversation(), limits) == first);
  } catch (const Fault& fault) {
    CHECK(!fault.message.empty());
  }
  return 0;
}
