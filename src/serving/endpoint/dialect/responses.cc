// OpenAI's Responses. Each event has its type and a number; a reply is a list of items (reasoning,
// a message, a call), each announced, said in deltas, and repeated whole when it is done. The last
// event has the whole response and the counts.
#include "base/format.h"
#include "base/json.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {
namespace {

class Responses final : public Dialect {
 public:
  explicit Responses(const DialectOptions& options) : options_(options) {}

  void opening(DialectOut& out, const ReplyState& state, DialectState& own) const override {
    for (const std::string_view name : {"response.created", "response.in_progress"}) {
      put(out, own, name, R"(,"response":)" + response(state, own, "in_progress", "", "null"),
          Category::role);
    }
  }

  void fragment(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
                std::string_view json, std::uint32_t tokens) const override {
    if (own.open != category) begin(out, state, own, category, "");
    own.said += json;
    const std::string_view logprobs = category == Category::text ? R"(,"logprobs":[])" : "";
    put(out, own, delta_name(category),
        format(R"({},"delta":"{}"{})", place(state, own, category), json, logprobs), category,
        tokens);
  }

  void tool_opening(DialectOut& out, const ReplyState& state, DialectState& own,
                    std::string_view name) const override {
    begin(out, state, own, Category::tool_call, name);
  }

  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason finish) const override {
    close(out, state, own);
    if (options_.no_end) return;
    const bool cut = finish == FinishReason::length;
    const std::string_view status = cut ? "incomplete" : "completed";
    put(out, own, format("response.{}", status),
        R"(,"response":)" + response(state, own, status, own.done, usage(state)), Category::finish);
  }

  void error(DialectOut& out, const ReplyState&, DialectState& own,
             std::string_view message) const override {
    put(out, own, "error",
        format(R"(,"code":"server_error","message":{},"param":null)", json_quote(message)),
        Category::error);
  }

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain& reply) const override {
    std::string items;
    const auto add = [&items](const std::string& item) {
      if (!items.empty()) items += ',';
      items += item;
    };
    std::uint32_t index = 0;
    if (!reply.reasoning.empty()) {
      add(item(state, index++, Category::reasoning, "completed", "", reply.reasoning));
    }
    if (!reply.tool_name.empty()) {
      const std::string quoted = json_quote(reply.tool_arguments);
      add(item(state, index++, Category::tool_call, "completed", json_quote(reply.tool_name),
               std::string_view(quoted).substr(1, quoted.size() - 2)));
    } else if (!reply.text.empty()) {
      add(item(state, index++, Category::text, "completed", "", reply.text));
    }
    const bool cut = reply.finish == FinishReason::length;
    return response(state, own, cut ? "incomplete" : "completed", items, usage(state));
  }

 private:
  static void put(DialectOut& out, DialectState& own, std::string_view name,
                  std::string_view members, Category category, std::uint32_t tokens = 0) {
    out.event(name,
              format(R"({{"type":"{}","sequence_number":{}{}}})", name, own.sequence++, members),
              category, tokens);
  }

  std::string_view delta_name(Category category) const {
    if (category == Category::tool_call) return "response.function_call_arguments.delta";
    if (category != Category::reasoning) return "response.output_text.delta";
    return options_.summaries ? "response.reasoning_summary_text.delta"
                              : "response.reasoning_text.delta";
  }

  static std::string id(const ReplyState& state, std::uint32_t index, Category category) {
    const std::string_view prefix = category == Category::reasoning   ? "rs"
                                    : category == Category::tool_call ? "fc"
                                                                      : "msg";
    return format("{}_{:016x}_{}", prefix, state.id, index);
  }

  // Where a delta belongs.
  std::string place(const ReplyState& state, const DialectState& own, Category category) const {
    const std::string_view part = category == Category::tool_call ? ""
                                  : category == Category::reasoning && options_.summaries
                                      ? R"(,"summary_index":0)"
                                      : R"(,"content_index":0)";
    return format(R"(,"item_id":"{}","output_index":{}{})", id(state, own.items, category),
                  own.items, part);
  }

  static std::string text_part(std::string_view json) {
    return format(R"({{"type":"output_text","text":"{}","annotations":[],"logprobs":[]}})", json);
  }

  // `name` with its quotes.
  std::string item(const ReplyState& state, std::uint32_t index, Category category,
                   std::string_view status, std::string_view name, std::string_view json) const {
    const std::string head =
        format(R"({{"id":"{}","status":"{}")", id(state, index, category), status);
    const bool empty = status == "in_progress";
    if (category == Category::tool_call) {
      return head + format(R"(,"type":"function_call","call_id":"call_{:016x}","name":{},)"
                           R"("arguments":"{}"}})",
                           state.id, name, json);
    }
    if (category == Category::reasoning) {
      const std::string part =
          empty ? ""
                : format(R"({{"type":"{}","text":"{}"}})",
                         options_.summaries ? "summary_text" : "reasoning_text", json);
      return head + format(R"(,"type":"reasoning","summary":[{}],"content":[{}]}})",
                           options_.summaries ? part : "", options_.summaries ? "" : part);
    }
    return head + format(R"(,"type":"message","role":"assistant","content":[{}]}})",
                         empty ? "" : text_part(json));
  }

  void begin(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
             std::string_view name) const {
    close(out, state, own);
    own.open = category;
    if (!name.empty()) own.name = json_quote(name);
    const bool call = category == Category::tool_call;
    put(out, own, "response.output_item.added",
        format(R"(,"output_index":{},"item":{})", own.items,
               item(state, own.items, category, "in_progress", own.name, "")),
        call ? Category::tool_call : Category::role, call ? 1 : 0);
    if (category == Category::text) {
      put(out, own, "response.content_part.added",
          place(state, own, category) + R"(,"part":)" + text_part(""), Category::role);
    } else if (category == Category::reasoning && options_.summaries) {
      put(out, own, "response.reasoning_summary_part.added",
          place(state, own, category) + R"(,"part":{"type":"summary_text","text":""})",
          Category::role);
    }
  }

  // Repeats the open item whole.
  void close(DialectOut& out, const ReplyState& state, DialectState& own) const {
    if (own.open == Category::other) return;
    const std::string at = place(state, own, own.open);
    if (own.open == Category::tool_call) {
      put(out, own, "response.function_call_arguments.done",
          format(R"({},"name":{},"arguments":"{}")", at, own.name, own.said), Category::role);
    } else {
      std::string name(delta_name(own.open));
      name.replace(name.rfind('.'), std::string::npos, ".done");
      put(out, own, name,
          format(R"({},"text":"{}"{})", at, own.said,
                 own.open == Category::text ? R"(,"logprobs":[])" : ""),
          Category::role);
      if (own.open == Category::text) {
        put(out, own, "response.content_part.done", at + R"(,"part":)" + text_part(own.said),
            Category::role);
      }
    }
    const std::string whole = item(state, own.items, own.open, "completed", own.name, own.said);
    put(out, own, "response.output_item.done",
        format(R"(,"output_index":{},"item":{})", own.items, whole), Category::role);
    if (!own.done.empty()) own.done += ',';
    own.done += whole;
    ++own.items;
    own.open = Category::other;
    own.said.clear();
    own.name.clear();
  }

  std::string usage(const ReplyState& state) const {
    if (options_.no_usage) return "null";
    const std::uint64_t made = std::uint64_t{state.made} * options_.said_for_each;
    return format(R"({{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{},)"
                  R"("cache_write_tokens":0}},)"
                  R"("output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},)"
                  R"("total_tokens":{}}})",
                  state.prompt_tokens, state.cached_tokens, made, state.reasoning_made,
                  state.prompt_tokens + made);
  }

  static std::string response(const ReplyState& state, const DialectState& own,
                              std::string_view status, std::string_view items,
                              std::string_view usage) {
    const std::string_view details =
        status == "incomplete" ? R"({"reason":"max_output_tokens"})" : "null";
    return format(
        R"({{"id":"resp_{:016x}","object":"response","created_at":{},"status":"{}","error":null,)"
        R"("incomplete_details":{},"instructions":null,"metadata":{{}},"model":{},"output":[{}],)"
        R"("parallel_tool_calls":true,"temperature":1.0,"tool_choice":"auto","tools":[],)"
        R"("top_p":1.0,"usage":{}}})",
        state.id, state.created, status, details, json_quote(own.model), items, usage);
  }

  DialectOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> make_responses(const DialectOptions& options) {
  return std::make_unique<Responses>(options);
}

}  // namespace assay::endpoint
