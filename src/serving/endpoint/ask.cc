#include "endpoint/ask.h"

#include <simdjson.h>

#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "endpoint/described_ask.h"
#include "endpoint/sound_ask.h"
#include "endpoint/speech_ask.h"
#include "endpoint/tensor_ask.h"
#include "endpoint/tool_call.h"
#include "endpoint/vector_ask.h"

namespace assay::endpoint {
namespace {

namespace od = simdjson::ondemand;

ApiError bad_field(std::string_view param, std::string_view why) {
  return {.message = format("{}: {}", param, why), .param = std::string(param)};
}

// The bytes of a value's JSON text, without a string's quotes: the basis of the token estimate.
std::size_t text_bytes(od::value& value) {
  const std::string_view raw = value.raw_json_token();
  const std::size_t end = raw.find_last_of('"');
  return raw.size() < 2 || end == 0 || end == std::string_view::npos ? raw.size() : end - 1;
}

// A value's JSON text, of any kind.
std::string_view raw_text(od::value& value) {
  std::string_view raw;
  od::array array;
  od::object object;
  if (value.get_array().get(array) == simdjson::SUCCESS) {
    if (array.raw_json().get(raw) != simdjson::SUCCESS) raw = {};
  } else if (value.get_object().get(object) == simdjson::SUCCESS) {
    if (object.raw_json().get(raw) != simdjson::SUCCESS) raw = {};
  } else {
    raw = value.raw_json_token();
  }
  return raw;
}

bool is_ollama(Route route) {
  return route == Route::ollama_chat || route == Route::ollama_generate;
}

bool takes_messages(Route route) {
  return route == Route::chat || route == Route::messages || route == Route::ollama_chat;
}

// Reads one body. A field of the wrong type is an error; an unknown field is ignored, as in real
// servers.
class Reading {
 public:
  Reading(Ask& ask, bool keeps_text) : ask_(ask), keeps_text_(keeps_text) {}

  bool failed() const { return failed_; }
  ApiError error() const { return error_; }
  bool has_prompt() const { return has_prompt_; }

  void field(std::string_view key, od::value& value) {
    if (value.is_null().value_unsafe()) return;
    if (key == "model") {
      ask_.model = text(key, value);
    } else if (key == "messages" && takes_messages(ask_.route)) {
      messages(key, value);
    } else if (key == "input" && ask_.route == Route::responses) {
      input(key, value);
    } else if ((key == "instructions" && ask_.route == Route::responses) ||
               (key == "system" && ask_.route != Route::chat)) {
      const bool kept = std::exchange(keeps_text_, false);
      system_bytes_ = content_bytes(value);
      keeps_text_ = kept;
    } else if (key == "prompt" &&
               (ask_.route == Route::completions || ask_.route == Route::ollama_generate)) {
      prompt(key, value);
    } else if ((key == "text" || key == "input_ids") && ask_.route == Route::generate) {
      prompt(key, value);
    } else if (key == "stream") {
      ask_.stream = boolean(key, value);
    } else if (key == "stream_options") {
      object(key, value, [this](std::string_view k, od::value& v) {
        if (k == "include_usage") ask_.include_usage = boolean(k, v);
        if (k == "continuous_usage_stats") ask_.continuous_usage = boolean(k, v);
      });
    } else if (key == "sampling_params" || (key == "options" && is_ollama(ask_.route))) {
      object(key, value, [this](std::string_view k, od::value& v) { sampling(k, v); });
    } else if (key == "tools") {
      tools_ = raw_text(value);
    } else if (key == "tool_choice") {
      tool_choice_ = raw_text(value);
    } else if (key == "reasoning_effort") {
      ask_.reasoning = text(key, value) == "none" ? Wish::no : Wish::yes;
    } else if (key == "reasoning" && ask_.route == Route::responses) {
      object(key, value, [this](std::string_view k, od::value& v) {
        if (k == "effort") ask_.reasoning = text(k, v) == "none" ? Wish::no : Wish::yes;
      });
    } else if (key == "thinking" && ask_.route == Route::messages) {
      object(key, value, [this](std::string_view k, od::value& v) {
        if (k == "type") ask_.reasoning = text(k, v) == "disabled" ? Wish::no : Wish::yes;
      });
    } else if (key == "think" && is_ollama(ask_.route)) {
      bool wanted = true;  // or a word that says how much
      if (value.get_bool().get(wanted) != simdjson::SUCCESS) wanted = true;
      ask_.reasoning = wanted ? Wish::yes : Wish::no;
    } else if (key == "chat_template_kwargs") {
      object(key, value, [this](std::string_view k, od::value& v) {
        if (k != "enable_thinking" && k != "thinking") return;
        ask_.reasoning = boolean(k, v) ? Wish::yes : Wish::no;
      });
    } else {
      sampling(key, value);
    }
  }

  void fail(ApiError error) {
    if (!failed_) error_ = std::move(error);
    failed_ = true;
  }

  // After all fields: checks that depend on several of them.
  void end() {
    if (!has_prompt_) {
      constexpr std::string_view kNames[] = {"messages", "prompt",   "text",  "input",
                                             "messages", "messages", "prompt"};
      fail(bad_field(kNames[static_cast<std::size_t>(ask_.route)], "is required"));
    }
    if (ask_.route == Route::messages && ask_.tokens_max < 0) {
      fail(bad_field("max_tokens", "is required"));
    }
    ask_.prompt_tokens += estimate_tokens(system_bytes_);
    if (!tools_.empty() && !failed_) {
      const ToolWish wish = choose_tool(tools_, tool_choice_, last_is_tool_);
      if (!wish.error.empty()) return fail(bad_field("tools", wish.error));
      ask_.wants_tool = wish.wanted;
      ask_.tool_name = wish.name;
      ask_.tool_arguments = wish.arguments;
    }
  }

 private:
  std::string_view text(std::string_view key, od::value& value) {
    std::string_view out;
    if (value.get_string().get(out) != simdjson::SUCCESS) fail(bad_field(key, "must be a string"));
    return out;
  }
  void keep(std::string_view said) {
    if (keeps_text_) ask_.asked += said;
  }
  bool boolean(std::string_view key, od::value& value) {
    bool out = false;
    if (value.get_bool().get(out) != simdjson::SUCCESS) fail(bad_field(key, "must be a boolean"));
    return out;
  }
  // 16.0 is 16, as for the servers in whose place we stand: a client whose rows went through floats
  // sends that.
  std::int64_t integer(std::string_view key, od::value& value, std::int64_t least) {
    std::int64_t out = least;
    if (value.get_int64().get(out) != simdjson::SUCCESS) {
      double real = 0;
      const bool whole = value.get_double().get(real) == simdjson::SUCCESS &&
                         std::floor(real) == real && std::abs(real) < 1e15;
      if (!whole) fail(bad_field(key, "must be an integer"));
      out = whole ? static_cast<std::int64_t>(real) : least;
    }
    if (out < least) fail(bad_field(key, format("must be at least {}", least)));
    return out;
  }
  void number(std::string_view key, od::value& value, double low, double high) {
    double out = 0;
    if (value.get_double().get(out) != simdjson::SUCCESS) {
      fail(bad_field(key, "must be a number"));
    } else if (out < low || out > high) {
      fail(bad_field(key, format("must be from {} to {}", low, high)));
    }
  }

  template <typename F>
  void object(std::string_view key, od::value& value, F&& on_field) {
    od::object fields;
    if (value.get_object().get(fields) != simdjson::SUCCESS) {
      return fail(bad_field(key, "must be an object"));
    }
    for (auto field : fields) {
      std::string_view name;
      od::value inner;
      if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
          field.value().get(inner) != simdjson::SUCCESS) {
        return fail({.message = "The body is not valid JSON."});
      }
      if (!inner.is_null().value_unsafe()) on_field(name, inner);
    }
  }

  void sampling(std::string_view key, od::value& value) {
    if (key == "max_tokens" || key == "max_completion_tokens" || key == "max_new_tokens" ||
        key == "max_output_tokens" || key == "num_predict") {
      ask_.tokens_max = integer(key, value, 1);
    } else if (key == "min_tokens" || key == "min_new_tokens") {
      ask_.tokens_min = integer(key, value, 0);
    } else if (key == "ignore_eos") {
      ask_.ignore_eos = boolean(key, value);
    } else if (key == "seed" || key == "sampling_seed") {
      ask_.seed =
          static_cast<std::uint64_t>(integer(key, value, std::numeric_limits<std::int64_t>::min()));
      ask_.has_seed = true;
    } else if (key == "temperature") {
      number(key, value, 0, 2);
    } else if (key == "top_p") {
      number(key, value, 0, 1);
    } else if (key == "n") {
      const std::int64_t choices = integer(key, value, 1);
      const bool several = ask_.route == Route::chat || ask_.route == Route::completions;
      const bool few = choices <= kChoicesMax && several;
      if (!few && choices > 1) {
        return fail(bad_field(
            key, several ? "this endpoint gives at most 16 choices" : "this API gives one choice"));
      }
      ask_.choices = static_cast<std::uint32_t>(std::max<std::int64_t>(choices, 1));
    }
  }

  // A text, or items: messages, calls and their results.
  void input(std::string_view key, od::value& value) {
    if (value.type().value_unsafe() == od::json_type::array) return messages(key, value);
    prompt(key, value);
  }

  void messages(std::string_view list_name, od::value& value) {
    od::array list;
    if (value.get_array().get(list) != simdjson::SUCCESS) {
      return fail(bad_field(list_name, "must be an array"));
    }
    std::size_t bytes = 0;
    std::uint32_t count = 0;
    for (auto entry : list) {
      od::value message;
      if (entry.get(message) != simdjson::SUCCESS) {
        return fail({.message = "The body is not valid JSON."});
      }
      bool has_role = false;
      last_is_tool_ = false;
      object(list_name, message, [&](std::string_view k, od::value& v) {
        if (k == "role") {
          has_role = true;
          last_is_tool_ = last_is_tool_ || text(k, v) == "tool";
        } else if (k == "content") {
          ask_.asked.clear();
          bytes += content_bytes(v);
        } else if (k == "type" && ask_.route == Route::responses) {
          const std::string_view type = text(k, v);
          has_role = has_role || type != "message";
          last_is_tool_ = last_is_tool_ || type == "function_call_output";
        } else if ((k == "arguments" || k == "output") && ask_.route == Route::responses) {
          bytes += content_bytes(v);
        }
      });
      if (!has_role) return fail(bad_field(list_name, "each message must have a role"));
      ++count;
    }
    if (count == 0) return fail(bad_field(list_name, "must not be empty"));
    constexpr std::uint32_t kPerMessage = 4;
    constexpr std::uint32_t kAtEnd = 3;
    ask_.prompt_tokens = estimate_tokens(bytes) + count * kPerMessage + kAtEnd;
    has_prompt_ = true;
  }

  // A string, or a list of parts; parts that are not text count as zero.
  std::size_t content_bytes(od::value& value) {
    if (value.type().value_unsafe() != od::json_type::array) {
      const std::size_t bytes = text_bytes(value);
      keep(text("content", value));
      return bytes;
    }
    std::size_t bytes = 0;
    for (auto entry : value.get_array()) {
      od::value part;
      if (entry.get(part) != simdjson::SUCCESS) break;
      object("content", part, [&](std::string_view k, od::value& v) {
        if (k == "text") {
          bytes += text_bytes(v);
          if (keeps_text_) keep(text(k, v));
        }
        if (ask_.route != Route::messages) return;
        if (k == "type" && text(k, v) == "tool_result") last_is_tool_ = true;
        if (k == "content" && v.type().value_unsafe() == od::json_type::string) {
          bytes += text_bytes(v);
        }
      });
    }
    return bytes;
  }

  // A text, a list of token ids, or a list with one of either.
  void prompt(std::string_view key, od::value& value, bool nested = false) {
    if (value.type().value_unsafe() != od::json_type::array) {
      const std::size_t bytes = text_bytes(value);
      keep(text(key, value));
      ask_.prompt_tokens = std::max<std::uint32_t>(1, estimate_tokens(bytes));
      has_prompt_ = true;
      return;
    }
    std::uint32_t ids = 0;
    std::uint32_t others = 0;
    for (auto entry : value.get_array()) {
      od::value item;
      if (entry.get(item) != simdjson::SUCCESS) {
        return fail({.message = "The body is not valid JSON."});
      }
      if (item.type().value_unsafe() == od::json_type::number) {
        ++ids;
      } else if (nested || ++others > 1) {
        return fail(bad_field(key, "this endpoint takes one prompt a request"));
      } else {
        prompt(key, item, true);
      }
    }
    if (ids > 0 && others > 0) return fail(bad_field(key, "must not mix texts and token ids"));
    if (ids == 0 && others == 0) return fail(bad_field(key, "must not be empty"));
    if (ids > 0) ask_.prompt_tokens = ids;
    has_prompt_ = true;
  }

  Ask& ask_;
  bool keeps_text_;
  bool failed_ = false;
  ApiError error_{};
  bool has_prompt_ = false;
  bool last_is_tool_ = false;
  std::size_t system_bytes_ = 0;
  std::string_view tools_{};
  std::string_view tool_choice_{};
};

void append_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    append_json_quoted(out, text);
  }
}

}  // namespace

std::string error_body(const ApiError& error) {
  std::string out = R"({"error":{"message":)";
  append_json_quoted(out, error.message);
  out += R"(,"type":)";
  append_json_quoted(out, error.type);
  out += R"(,"param":)";
  append_or_null(out, error.param);
  out += R"(,"code":)";
  append_or_null(out, error.code);
  out += "}}";
  return out;
}

namespace {

// Anthropic's names of what went wrong.
std::string_view anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 504:
      return "timeout_error";
    case 503:
    case 529:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

}  // namespace

std::string error_body(Route route, const ApiError& error) {
  if (route == Route::messages) {
    return format(R"({{"type":"error","error":{{"type":"{}","message":{}}},"request_id":null}})",
                  anthropic_type(error.status), json_quote(error.message));
  }
  if (is_ollama(route) || route == Route::kserve)
    return format(R"({{"error":{}}})", json_quote(error.message));
  return error_body(error);
}

struct AskReader::State {
  bool keeps_text = false;
  const DescribedKind* described = nullptr;
  od::parser parser{};
};

AskReader::AskReader(bool keeps_text, const DescribedKind* described)
    : state_(std::make_unique<State>()) {
  state_->keeps_text = keeps_text;
  state_->described = described;
}
AskReader::AskReader(AskReader&&) noexcept = default;
AskReader::~AskReader() = default;

std::variant<std::monostate, ApiError> AskReader::read(Route route, std::string_view body,
                                                       Ask& ask) {
  if (is_described(route)) {
    if (state_->described == nullptr) return ApiError{.status = 404, .message = "No such route."};
    return read_described_ask(*state_->described, body, ask);
  }
  if (route == Route::kserve) return read_tensor_ask(body, ask);
  if (route == Route::kserve_grpc) return read_tensor_grpc_ask(body, ask);
  if (route == Route::speech) return read_speech_ask(body, ask);
  if (is_of_sound(route)) return read_sound_ask(route, body, ask);
  if (is_of_vectors(route)) return read_vector_ask(route, body, ask);
  static_assert(kAskPadding >= simdjson::SIMDJSON_PADDING);
  ask.route = route == Route::realtime ? Route::responses : route;
  ask.stream = is_ollama(route);  // unless it asks for one reply
  const simdjson::padded_string_view padded(body.data(), body.size(), body.size() + kAskPadding);
  od::document document;
  od::object fields;
  if (state_->parser.iterate(padded).get(document) != simdjson::SUCCESS) {
    return ApiError{.message = "The body is not valid JSON."};
  }
  if (document.get_object().get(fields) != simdjson::SUCCESS) {
    return ApiError{.message = "The body must be a JSON object."};
  }
  Reading reading(ask, state_->keeps_text);
  for (auto field : fields) {
    std::string_view key;
    od::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS) {
      return ApiError{.message = "The body is not valid JSON."};
    }
    reading.field(key, value);
    if (reading.failed()) return reading.error();
  }
  // More input follows if the document still has a location.
  const bool more = document.current_location().error() == simdjson::SUCCESS;
  if (more) return ApiError{.message = "The body is not valid JSON."};
  reading.end();
  ask.route = route;
  if (reading.failed()) return reading.error();
  return std::monostate{};
}

}  // namespace assay::endpoint
