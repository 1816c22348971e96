// Spans of generative AI as OpenTelemetry exports them, read from JSON: a span an object, a session
// with `spans`, or an OTLP export (resourceSpans). Attributes may be an object or OTLP's list of
// key and value; instants ISO text, or nanoseconds as text or number. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/messages.h"

namespace assay::dataset {

enum class SpanKind : std::uint8_t {
  query,  // a model was asked
  agent,  // an agent's whole work
  other
};

struct OtelSpan {
  std::string trace{};
  std::string id{};
  std::string parent{};
  std::string agent{};  // gen_ai.agent.name
  SpanKind kind = SpanKind::other;
  bool failed = false;
  std::int64_t start_ns = 0;  // since 1970
  std::int64_t end_ns = 0;
  std::int64_t input_tokens = -1;  // -1: not recorded
  std::int64_t output_tokens = -1;
  std::int64_t cached_tokens = -1;
  Messages messages{};  // with the system's instructions; null where content was not recorded
  Json tools{};
};

Result<OtelSpan> read_span(const Json& span);
// The spans of a document of any of the forms; fails if it is none.
Result<std::vector<const Json*>> spans_of(const Json& document);

}  // namespace assay::dataset
