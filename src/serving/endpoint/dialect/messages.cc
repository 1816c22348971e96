// Anthropic's Messages. A reply is a list of blocks (thinking, text, a tool's use), each begun,
// said in deltas and stopped. The counts are split: the prompt's in the first event, the output's
// in message_delta, cumulative. message_stop ends the stream.
#include "base/format.h"
#include "base/json.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {
namespace {

std::string_view stop_reason(FinishReason finish) {
  switch (finish) {
    case FinishReason::length:
      return "max_tokens";
    case FinishReason::tool_calls:
      return "tool_use";
    case FinishReason::none:
    case FinishReason::stop:
    case FinishReason::content_filter:
    case FinishReason::function_call:
    case FinishReason::other:
      return "end_turn";
  }
  return "end_turn";
}

class MessagesDialect final : public Dialect {
 public:
  explicit MessagesDialect(const DialectOptions& options) : options_(options) {}

  void opening(DialectOut& out, const ReplyState& state, DialectState& own) const override {
    out.event("message_start",
              R"({"type":"message_start","message":)" +
                  message(state, own, "", "null", usage(state.prompt_tokens, 1)) + "}",
              Category::role, 0);
  }

  void fragment(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
                std::string_view json, std::uint32_t tokens) const override {
    if (own.open != category) begin(out, state, own, category, "");
    const std::string_view type = category == Category::reasoning   ? "thinking_delta"
                                  : category == Category::tool_call ? "input_json_delta"
                                                                    : "text_delta";
    const std::string_view field = category == Category::reasoning   ? "thinking"
                                   : category == Category::tool_call ? "partial_json"
                                                                     : "text";
    out.event(
        "content_block_delta",
        format(R"({{"type":"content_block_delta","index":{},"delta":{{"type":"{}","{}":"{}"}}}})",
               own.items, type, field, json),
        category, tokens);
  }

  void tool_opening(DialectOut& out, const ReplyState& state, DialectState& own,
                    std::string_view name) const override {
    begin(out, state, own, Category::tool_call, name);
  }

  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason finish) const override {
    close(out, own);
    const std::string counts =
        options_.no_usage ? "" : format(R"(,"usage":{{"output_tokens":{}}})", said(state));
    out.event(
        "message_delta",
        format(
            R"({{"type":"message_delta","delta":{{"stop_reason":"{}","stop_sequence":null}}{}}})",
            stop_reason(finish), counts),
        Category::finish, 0);
    if (options_.no_end) return;
    out.event("message_stop", R"({"type":"message_stop"})", Category::marker, 0);
  }

  void error(DialectOut& out, const ReplyState&, DialectState& own,
             std::string_view message) const override {
    close(out, own);
    out.event("error",
              format(R"({{"type":"error","error":{{"type":"overloaded_error","message":{}}}}})",
                     json_quote(message)),
              Category::error, 0);
  }

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain& reply) const override {
    std::string blocks;
    const auto add = [&blocks](const std::string& block) {
      if (!blocks.empty()) blocks += ',';
      blocks += block;
    };
    if (!reply.reasoning.empty()) add(thinking(reply.reasoning));
    if (!reply.tool_name.empty()) {
      // Arguments that a limit cut are no JSON: the block has none then.
      const bool sound = Json::parse(reply.tool_arguments).has_value();
      add(tool_use(state, json_quote(reply.tool_name), sound ? reply.tool_arguments : "{}"));
    } else if (!reply.text.empty()) {
      add(format(R"({{"type":"text","text":"{}"}})", reply.text));
    }
    return message(state, own, blocks, format("\"{}\"", stop_reason(reply.finish)),
                   usage(state.prompt_tokens, said(state)));
  }

 private:
  std::uint64_t said(const ReplyState& state) const {
    return std::uint64_t{state.made} * options_.said_for_each;
  }

  std::string usage(std::uint32_t prompt, std::uint64_t output) const {
    if (options_.no_usage) return R"({"input_tokens":0,"output_tokens":0})";
    return format(R"({{"input_tokens":{},"cache_creation_input_tokens":0,)"
                  R"("cache_read_input_tokens":0,"output_tokens":{}}})",
                  prompt, output);
  }

  static std::string message(const ReplyState& state, const DialectState& own,
                             std::string_view blocks, std::string_view reason,
                             std::string_view usage) {
    return format(R"({{"id":"msg_{:016x}","type":"message","role":"assistant","model":{},)"
                  R"("content":[{}],"stop_reason":{},"stop_sequence":null,"usage":{}}})",
                  state.id, json_quote(own.model), blocks, reason, usage);
  }

  static std::string thinking(std::string_view json) {
    return format(R"({{"type":"thinking","thinking":"{}","signature":""}})", json);
  }

  static std::string tool_use(const ReplyState& state, std::string_view name,
                              std::string_view input) {
    return format(R"({{"type":"tool_use","id":"toolu_{:016x}","name":{},"input":{}}})", state.id,
                  name, input);
  }

  static void begin(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
                    std::string_view name) {
    close(out, own);
    own.open = category;
    const bool call = category == Category::tool_call;
    const std::string block = call ? tool_use(state, json_quote(name), "{}")
                              : category == Category::reasoning ? thinking("")
                                                                : R"({"type":"text","text":""})";
    out.event("content_block_start",
              format(R"({{"type":"content_block_start","index":{},"content_block":{}}})", own.items,
                     block),
              call ? Category::tool_call : Category::role, call ? 1 : 0);
  }

  static void close(DialectOut& out, DialectState& own) {
    if (own.open == Category::other) return;
    if (own.open == Category::reasoning) {
      out.event("content_block_delta",
                format(R"({{"type":"content_block_delta","index":{},"delta":)"
                       R"({{"type":"signature_delta","signature":"c2lnbmVk"}}}})",
                       own.items),
                Category::role, 0);
    }
    out.event("content_block_stop",
              format(R"({{"type":"content_block_stop","index":{}}})", own.items), Category::role,
              0);
    ++own.items;
    own.open = Category::other;
  }

  DialectOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> make_messages(const DialectOptions& options) {
  return std::make_unique<MessagesDialect>(options);
}

}  // namespace assay::endpoint
