#include "endpoint/described_ask.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"

namespace assay::endpoint {
namespace {

class TemplateReading {
 public:
  TemplateReading(const DescribedKind& kind, Ask& ask) : kind_(kind), ask_(ask) {}

  std::variant<std::monostate, ApiError> read(const Json& body) {
    ask_.stream = kind_.stream != KindStream::none;  // unless the request says another thing
    match(kind_.request, body, "");
    if (kind_.takes_prompt && !asked_) fail("the prompt", "is required");
    if (failed_) return std::move(error_);
    ask_.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(bytes_));
    if (kind_.event.reasoning.places.empty()) ask_.reasoning = Wish::no;
    const Json* units = &body;
    for (const std::string& step : kind_.units_asked) units = &(*units)[step];
    const std::int64_t count = kind_.units_asked.empty() ? 1
                               : units->is_array()       ? static_cast<std::int64_t>(units->size())
                                                         : units->as_int(1);
    if (kind_.unit.empty()) return std::monostate{};
    if (count < 1 || count > static_cast<std::int64_t>(kInputsMax)) {
      fail(kind_.unit, format("this endpoint gives 1 to {} a request", kInputsMax));
      return std::move(error_);
    }
    ask_.vectors.inputs.assign(static_cast<std::size_t>(count), xxh3(body.dump()));
    return std::monostate{};
  }

 private:
  void fail(std::string_view where, std::string_view why) {
    if (!failed_) {
      error_ = {.message = format("{}: {}", where, why), .param = std::string(where)};
    }
    failed_ = true;
  }

  void match(const Json& pattern, const Json& value, const std::string& where) {
    if (failed_ || value.is_null()) return;
    const auto inner = [&](std::string_view step) {
      return where.empty() ? std::string(step) : format("{}.{}", where, step);
    };
    if (pattern.is_object()) {
      if (!value.is_object()) return fail(where, "must be an object");
      for (const auto& [key, item] : pattern.members()) match(item, value[key], inner(key));
    } else if (pattern.is_array()) {
      if (!value.is_array()) return fail(where, "must be an array");
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        match(pattern[i], value[i], inner(std::to_string(i)));
      }
    } else if (pattern.is_string()) {
      text(pattern.as_string(), value, where);
    }
  }

  void text(std::string_view pattern, const Json& value, const std::string& where) {
    const auto parts = template_parts(pattern);
    if (!parts) return;  // refused when the kind was read
    if (parts->size() == 1) {
      if (parts->front().slot) slot(parts->front().text, value, where);
      return;
    }
    if (!value.is_string()) return fail(where, "must be a string");
    // The prompt within a longer text: its share of the bytes.
    std::size_t fixed = 0;
    for (const TemplatePart& part : *parts) {
      if (!part.slot) fixed += part.text.size();
      asked_ = asked_ || (part.slot && part.text == "prompt");
    }
    bytes_ += value.as_string().size() - std::min(fixed, value.as_string().size());
  }

  void slot(std::string_view name, const Json& value, const std::string& where) {
    if (name == "prompt" || name == "system" || name == "model") {
      if (!value.is_string()) return fail(where, "must be a string");
      if (name == "model") {
        ask_.model = value.as_string();
        return;
      }
      asked_ = asked_ || name == "prompt";
      bytes_ += value.as_string().size();
    } else if (name == "messages") {
      if (!value.is_array() || value.size() == 0) return fail(where, "must be a list of messages");
      asked_ = true;
      for (const Json& message : value.items()) bytes_ += message["content"].dump().size();
    } else if (name == "output_tokens_max") {
      if (!value.is_integer() || value.as_int() < 1) return fail(where, "must be at least 1");
      ask_.tokens_max = value.as_int();
    } else if (name == "stream") {
      if (!value.is_bool()) return fail(where, "must be a boolean");
      ask_.stream = value.as_bool() && kind_.stream != KindStream::none;
    } else if (name == "seed") {
      if (!value.is_integer()) return fail(where, "must be an integer");
      ask_.seed = static_cast<std::uint64_t>(value.as_int());
      ask_.has_seed = true;
    } else if (name == "temperature" || name == "top_p") {
      if (!value.is_number()) return fail(where, "must be a number");
    } else {
      bytes_ += value.dump().size();  // a column
    }
  }

  const DescribedKind& kind_;
  Ask& ask_;
  std::size_t bytes_ = 0;
  bool asked_ = false;
  bool failed_ = false;
  ApiError error_{};
};

}  // namespace

std::variant<std::monostate, ApiError> read_described_ask(const DescribedKind& kind,
                                                          std::string_view body, Ask& ask) {
  ask.route = kind.unit.empty() ? Route::described : Route::described_units;
  const auto json = Json::parse(body);
  if (!json) return ApiError{.message = "The body is not valid JSON."};
  if (!json->is_object()) return ApiError{.message = "The body must be a JSON object."};
  return TemplateReading(kind, ask).read(*json);
}

bool is_route_of(const DescribedKind& kind, std::string_view path, std::string_view& model) {
  constexpr std::string_view kHole = "{model}";
  const std::string_view route = kind.route;
  const std::size_t hole = route.find(kHole);
  if (hole == std::string_view::npos) return path.ends_with(route);
  const std::string_view before = route.substr(0, hole);
  const std::string_view behind = route.substr(hole + kHole.size());
  const std::size_t at = path.find(before);
  if (at == std::string_view::npos || !path.ends_with(behind)) return false;
  const std::size_t begin = at + before.size();
  if (path.size() <= begin + behind.size()) return false;
  model = path.substr(begin, path.size() - behind.size() - begin);
  return model.find('/') == std::string_view::npos;
}

}  // namespace assay::endpoint
