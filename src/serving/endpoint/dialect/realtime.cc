// OpenAI's realtime events of one response: an item is announced, said in deltas and repeated when
// it is done; response.done ends it, with the counts. A token that is spoken is a piece of the
// transcript and 24 ms of a tone.
#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "endpoint/dialect/kinds.h"
#include "endpoint/dialect/tone.h"

namespace assay::endpoint {
namespace {

class Realtime final : public Dialect {
 public:
  explicit Realtime(const DialectOptions& options) : options_(options) {}

  bool messages() const override { return true; }

  void opening(DialectOut& out, const ReplyState& state, DialectState& own) const override {
    put(out, state, own, "response.created",
        R"(,"response":)" + response(state, "in_progress", "null", "", "null"), Category::role);
  }

  void fragment(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
                std::string_view json, std::uint32_t tokens) const override {
    if (own.open != category) begin(out, state, own, category, "");
    own.said += json;
    const bool call = category == Category::tool_call;
    const std::string_view name = call                ? "response.function_call_arguments.delta"
                                  : own.speech.events ? "response.output_audio_transcript.delta"
                                                      : "response.output_text.delta";
    put(out, state, own, name, format(R"({},"delta":"{}")", place(state, own), json), category,
        tokens);
    if (call || !own.speech.events) return;
    const std::string sound = tone(own.speech.sample_rate, state.made - tokens, tokens);
    put(out, state, own, "response.output_audio.delta",
        format(R"({},"delta":"{}")", place(state, own), encode_base64(sound)), Category::sound);
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
    const std::string_view details =
        cut ? R"({"type":"incomplete","reason":"max_output_tokens"})" : "null";
    put(out, state, own, "response.done",
        R"(,"response":)" +
            response(state, cut ? "incomplete" : "completed", details, own.done, usage(state, own)),
        Category::finish);
  }

  void error(DialectOut& out, const ReplyState& state, DialectState& own,
             std::string_view message) const override {
    put(out, state, own, "error",
        format(R"(,"error":{{"type":"server_error","code":null,"message":{},"param":null,)"
               R"("event_id":null}})",
               json_quote(message)),
        Category::error);
  }

  // A turn always streams.
  std::string plain(const ReplyState&, const DialectState&, const Wire::Plain&) const override {
    return {};
  }

 private:
  static void put(DialectOut& out, const ReplyState& state, DialectState& own,
                  std::string_view name, std::string_view members, Category category,
                  std::uint32_t tokens = 0) {
    out.event(name,
              format(R"({{"type":"{}","event_id":"event_{:016x}_{}"{}}})", name, state.id,
                     own.sequence++, members),
              category, tokens);
  }

  static std::string item_id(const ReplyState& state, std::uint32_t index) {
    return format("item_{:016x}_{}", state.id, index);
  }

  // Where a delta belongs.
  static std::string place(const ReplyState& state, const DialectState& own) {
    return format(R"(,"response_id":"resp_{:016x}","item_id":"{}","output_index":{}{})", state.id,
                  item_id(state, own.items), own.items,
                  own.open == Category::tool_call ? "" : R"(,"content_index":0)");
  }

  static std::string part(const DialectState& own) {
    return own.speech.events ? format(R"({{"type":"output_audio","transcript":"{}"}})", own.said)
                             : format(R"({{"type":"output_text","text":"{}"}})", own.said);
  }

  static std::string item(const ReplyState& state, const DialectState& own,
                          std::string_view status) {
    const std::string head = format(R"({{"id":"{}","object":"realtime.item","status":"{}")",
                                    item_id(state, own.items), status);
    if (own.open == Category::tool_call) {
      return head + format(R"(,"type":"function_call","call_id":"call_{:016x}","name":{},)"
                           R"("arguments":"{}"}})",
                           state.id, own.name, own.said);
    }
    return head + format(R"(,"type":"message","role":"assistant","content":[{}]}})",
                         status == "in_progress" ? "" : part(own));
  }

  void begin(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
             std::string_view name) const {
    close(out, state, own);
    own.open = category;
    if (!name.empty()) own.name = json_quote(name);
    const bool call = category == Category::tool_call;
    put(out, state, own, "response.output_item.added",
        format(R"(,"response_id":"resp_{:016x}","output_index":{},"item":{})", state.id, own.items,
               item(state, own, "in_progress")),
        call ? Category::tool_call : Category::role, call ? 1 : 0);
    if (call) return;
    put(out, state, own, "response.content_part.added",
        place(state, own) + R"(,"part":)" + part(own), Category::role);
  }

  // Repeats the open item whole; sound is not repeated.
  void close(DialectOut& out, const ReplyState& state, DialectState& own) const {
    if (own.open == Category::other) return;
    const std::string at = place(state, own);
    const auto done = [&](std::string_view name, const std::string& members) {
      put(out, state, own, name, at + members, Category::role);
    };
    if (own.open == Category::tool_call) {
      done("response.function_call_arguments.done",
           format(R"(,"name":{},"arguments":"{}")", own.name, own.said));
    } else if (own.speech.events) {
      done("response.output_audio_transcript.done", format(R"(,"transcript":"{}")", own.said));
      done("response.output_audio.done", "");
    } else {
      done("response.output_text.done", format(R"(,"text":"{}")", own.said));
    }
    if (own.open != Category::tool_call)
      done("response.content_part.done", R"(,"part":)" + part(own));
    const std::string whole = item(state, own, "completed");
    put(out, state, own, "response.output_item.done",
        format(R"(,"response_id":"resp_{:016x}","output_index":{},"item":{})", state.id, own.items,
               whole),
        Category::role);
    if (!own.done.empty()) own.done += ',';
    own.done += whole;
    ++own.items;
    own.open = Category::other;
    own.said.clear();
    own.name.clear();
  }

  std::string usage(const ReplyState& state, const DialectState& own) const {
    if (options_.no_usage) return "null";
    const std::uint64_t made = std::uint64_t{state.made} * options_.said_for_each;
    const std::uint64_t spoken = own.speech.events ? made : 0;
    return format(
        R"({{"total_tokens":{},"input_tokens":{},"output_tokens":{},)"
        R"("input_token_details":{{"text_tokens":{},"audio_tokens":0,"cached_tokens":{}}},)"
        R"("output_token_details":{{"text_tokens":{},"audio_tokens":{}}}}})",
        state.prompt_tokens + made, state.prompt_tokens, made, state.prompt_tokens,
        state.cached_tokens, made - spoken, spoken);
  }

  static std::string response(const ReplyState& state, std::string_view status,
                              std::string_view details, std::string_view items,
                              std::string_view usage) {
    return format(R"({{"id":"resp_{:016x}","object":"realtime.response","status":"{}",)"
                  R"("status_details":{},"output":[{}],"metadata":null,"usage":{}}})",
                  state.id, status, details, items, usage);
  }

  DialectOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> make_realtime(const DialectOptions& options) {
  return std::make_unique<Realtime>(options);
}

}  // namespace assay::endpoint
