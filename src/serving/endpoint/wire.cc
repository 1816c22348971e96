#include "endpoint/wire.h"

#include "base/check.h"
#include "base/format.h"
#include "base/json.h"

namespace assay::endpoint {
namespace {

std::string_view finish_text(FinishReason reason) {
  switch (reason) {
    case FinishReason::none:
      return "null";
    case FinishReason::length:
      return R"("length")";
    case FinishReason::tool_calls:
      return R"("tool_calls")";
    case FinishReason::stop:
    case FinishReason::content_filter:
    case FinishReason::function_call:
    case FinishReason::other:
      return R"("stop")";
  }
  CHECK(false && "no such FinishReason");
}

}  // namespace

Wire::Wire(Route route, std::string_view model, const WireOptions& options)
    : route_(route), options_(options) {
  const std::string name = json_quote(model);
  usage_after_created_ = format(R"(,"model":{},"choices":[])", name);
  after_created_ = format(R"(,"model":{},"choices":[{{"index":)", name);
  choice_opening_ = route_ == Route::chat ? R"(,"delta":{)" : R"(,"text":")";
  plain_opening_ = route_ == Route::chat ? R"(,"message":{"role":"assistant",)" : R"(,"text":")";
  if (route == Route::chat) {
    before_id_ = R"({"id":"chatcmpl-)";
    after_id_ = R"(","object":"chat.completion.chunk","created":)";
    plain_after_id_ = R"(","object":"chat.completion","created":)";
  } else {
    before_id_ = R"({"id":"cmpl-)";
    after_id_ = R"(","object":"text_completion","created":)";
    plain_after_id_ = after_id_;
  }
}

void Wire::begin(ByteBuffer& out, const ReplyState& state) const {
  out.put(before_id_);
  out.put_hex16(state.id);
  out.put(after_id_);
  out.put_decimal(state.created);
  out.put(after_created_);
  out.put_decimal(state.choice);
  out.put(choice_opening_);
}

void Wire::put_usage(ByteBuffer& out, const ReplyState& state) const {
  const std::uint64_t made = std::uint64_t{state.made} * state.choices;
  const std::uint64_t said = made * options_.said_for_each;
  out.put(R"(,"usage":{"prompt_tokens":)");
  out.put_decimal(state.prompt_tokens);
  out.put(R"(,"completion_tokens":)");
  out.put_decimal(said);
  out.put(R"(,"total_tokens":)");
  out.put_decimal(state.prompt_tokens + said);
  out.put(R"(,"prompt_tokens_details":{"cached_tokens":)");
  out.put_decimal(state.cached_tokens);
  out.put('}');
  if (route_ == Route::chat) {
    out.put(R"(,"completion_tokens_details":{"reasoning_tokens":)");
    out.put_decimal(std::uint64_t{state.reasoning_made} * state.choices);
    out.put('}');
  }
  out.put('}');
}

// Writes from the end of the delta, or of the text, to the end of the event.
void Wire::end(ByteBuffer& out, const ReplyState& state, FinishReason reason) const {
  out.put(route_ == Route::chat ? R"(},"logprobs":null,"finish_reason":)"
                                : R"(","logprobs":null,"finish_reason":)");
  out.put(finish_text(reason));
  out.put("}]");
  if (state.usage_now) {
    put_usage(out, state);
  } else if (state.null_usage) {
    out.put(R"(,"usage":null)");
  }
  out.put('}');
}

void Wire::fragment(ByteBuffer& out, const ReplyState& state, Category category,
                    std::string_view json, std::string_view ids, bool opening,
                    FinishReason finish) const {
  if (route_ == Route::generate) return generate(out, state, json, ids, finish);
  begin(out, state);
  if (route_ == Route::completions) {
    out.put(json);
    return end(out, state, finish);
  }
  if (opening) out.put(R"("role":"assistant",)");
  switch (category) {
    case Category::reasoning:
      out.put(options_.reasoning_is_short ? R"("reasoning":")" : R"("reasoning_content":")");
      break;
    case Category::tool_call:
      out.put(R"("tool_calls":[{"index":0,"function":{"arguments":")");
      break;
    default:
      out.put(R"("content":")");
  }
  out.put(json);
  out.put(category == Category::tool_call ? R"("}}])" : R"(")");
  end(out, state, finish);
}

void Wire::tool_opening(ByteBuffer& out, const ReplyState& state, std::string_view name,
                        bool opening, FinishReason finish) const {
  begin(out, state);
  if (opening) out.put(R"("role":"assistant","content":null,)");
  out.put(R"("tool_calls":[{"index":0,"id":"call_)");
  out.put_hex16(state.id);
  out.put(R"(","type":"function","function":{"name":)");
  out.put(json_quote(name));
  out.put(R"(,"arguments":""}}])");
  end(out, state, finish);
}

void Wire::empty_delta(ByteBuffer& out, const ReplyState& state, bool with_role) const {
  if (route_ == Route::generate) return generate(out, state, "", "", FinishReason::none);
  begin(out, state);
  if (route_ == Route::chat && with_role) out.put(R"("role":"assistant","content":"")");
  end(out, state, FinishReason::none);
}

void Wire::finish(ByteBuffer& out, const ReplyState& state, FinishReason reason) const {
  CHECK(route_ != Route::generate);
  begin(out, state);
  end(out, state, reason);
}

void Wire::usage(ByteBuffer& out, const ReplyState& state) const {
  CHECK(route_ != Route::generate);
  out.put(before_id_);
  out.put_hex16(state.id);
  out.put(after_id_);
  out.put_decimal(state.created);
  out.put(usage_after_created_);
  put_usage(out, state);
  out.put('}');
}

void Wire::generate(ByteBuffer& out, const ReplyState& state, std::string_view text,
                    std::string_view ids, FinishReason finish) const {
  out.put(R"({"text":")");
  out.put(text);
  out.put(R"(","output_ids":[)");
  out.put(ids);
  out.put(R"(],"meta_info":{"id":")");
  out.put_hex16(state.id);
  out.put(R"(","finish_reason":)");
  if (finish == FinishReason::none) {
    out.put("null");
  } else if (finish == FinishReason::length) {
    out.put(R"({"type":"length","length":)");
    out.put_decimal(state.made);
    out.put('}');
  } else {
    out.put(R"({"type":"stop","matched":2})");
  }
  out.put(R"(,"prompt_tokens":)");
  out.put_decimal(state.prompt_tokens);
  out.put(R"(,"weight_version":"default","total_retractions":0,"completion_tokens":)");
  out.put_decimal(std::uint64_t{state.made} * options_.said_for_each);
  out.put(R"(,"cached_tokens":)");
  out.put_decimal(state.cached_tokens);
  if (state.latency_s >= 0) {
    out.put(R"(,"e2e_latency":)");
    out.put(json_number(state.latency_s));
  }
  out.put("}}");
}

void Wire::plain_chat(ByteBuffer& out, const Plain& reply) const {
  if (!reply.tool_name.empty()) {
    out.put(R"("content":null)");
  } else {
    out.put(R"("content":")");
    out.put(reply.text);
    out.put('"');
  }
  if (!reply.reasoning.empty()) {
    out.put(options_.reasoning_is_short ? R"(,"reasoning":")" : R"(,"reasoning_content":")");
    out.put(reply.reasoning);
    out.put('"');
  }
}

void Wire::plain(ByteBuffer& out, const ReplyState& state, const Plain& reply) const {
  if (route_ == Route::generate) {
    return generate(out, state, reply.text, reply.ids, reply.finish);
  }
  out.put(before_id_);
  out.put_hex16(state.id);
  out.put(plain_after_id_);
  out.put_decimal(state.created);
  out.put(after_created_);
  ReplyState one = state;
  for (one.choice = 0; one.choice < state.choices; ++one.choice) {
    if (one.choice > 0) out.put(R"(,{"index":)");
    plain_choice(out, one, reply);
  }
  out.put(']');
  put_usage(out, state);
  out.put('}');
}

// Writes a choice from its index to its end.
void Wire::plain_choice(ByteBuffer& out, const ReplyState& state, const Plain& reply) const {
  out.put_decimal(state.choice);
  out.put(plain_opening_);
  if (route_ == Route::completions) {
    out.put(reply.text);
    out.put(R"(","logprobs":null,"finish_reason":)");
  } else {
    plain_chat(out, reply);
    if (!reply.tool_name.empty()) {
      out.put(R"(,"tool_calls":[{"id":"call_)");
      out.put_hex16(state.id);
      out.put(R"(","type":"function","function":{"name":)");
      out.put(json_quote(reply.tool_name));
      out.put(R"(,"arguments":)");
      out.put(json_quote(reply.tool_arguments));
      out.put("}}]");
    }
    out.put(R"(},"logprobs":null,"finish_reason":)");
  }
  out.put(finish_text(reply.finish));
  out.put('}');
}

}  // namespace assay::endpoint
