// Ollama's own /api/chat and /api/generate: a stream of JSON lines, one a piece of the reply. A
// tool call comes whole, in one line. The last line says done, the reason and the counts.
#include "base/format.h"
#include "base/json.h"
#include "base/time.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {
namespace {

class Ollama final : public Dialect {
 public:
  Ollama(const DialectOptions& options, bool chat) : options_(options), chat_(chat) {}

  bool lines() const override { return true; }
  void opening(DialectOut&, const ReplyState&, DialectState&) const override {}

  void fragment(DialectOut& out, const ReplyState& state, DialectState& own, Category category,
                std::string_view json, std::uint32_t tokens) const override {
    if (category == Category::tool_call) {
      own.said += json;
      own.held += tokens;
      return;
    }
    const bool thinks = category == Category::reasoning;
    out.event("",
              line(state, own, content(thinks ? "" : json, thinks ? json : "", ""), false) + "}",
              category, tokens);
  }

  void tool_opening(DialectOut&, const ReplyState&, DialectState& own,
                    std::string_view name) const override {
    own.name = json_quote(name);
    own.held = 1;
  }

  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason finish) const override {
    if (own.held > 0) {
      const auto text = Json::parse("\"" + own.said + "\"");
      const std::string call = call_of(own.name, text ? text->as_string() : "");
      out.event("", line(state, own, content("", "", call), false) + "}", Category::tool_call,
                own.held);
    }
    if (options_.no_end) return;
    out.event("", line(state, own, content("", "", ""), true) + end(state, finish),
              Category::finish, 0);
  }

  void error(DialectOut& out, const ReplyState&, DialectState&,
             std::string_view message) const override {
    out.event("", format(R"({{"error":{}}})", json_quote(message)), Category::error, 0);
  }

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain& reply) const override {
    const std::string call =
        reply.tool_name.empty() ? "" : call_of(json_quote(reply.tool_name), reply.tool_arguments);
    return line(state, own, content(reply.text, reply.reasoning, call), true) +
           end(state, reply.finish);
  }

 private:
  // Arguments are an object; what a limit cut is none.
  static std::string call_of(std::string_view name, std::string_view arguments) {
    const auto parsed = Json::parse(arguments);
    const bool sound = parsed && parsed->is_object();
    return format(R"([{{"function":{{"index":0,"name":{},"arguments":{}}}}}])", name,
                  sound ? arguments : "{}");
  }

  std::string content(std::string_view text, std::string_view thinking,
                      std::string_view calls) const {
    std::string out = chat_ ? format(R"("message":{{"role":"assistant","content":"{}")", text)
                            : format(R"("response":"{}")", text);
    if (!thinking.empty()) out += format(R"(,"thinking":"{}")", thinking);
    if (!calls.empty()) out += format(R"(,"tool_calls":{})", calls);
    if (chat_) out += '}';
    return out;
  }

  // A line without its closing brace. Its time differs from line to line, as a server's does.
  static std::string line(const ReplyState& state, const DialectState& own,
                          std::string_view content, bool done) {
    const WallTime at{std::int64_t{state.created} * 1'000'000'000 + state.made};
    return format(R"({{"model":{},"created_at":"{}",{},"done":{})", json_quote(own.model),
                  rfc3339(at), content, done);
  }

  // Ollama leaves zero values out.
  std::string end(const ReplyState& state, FinishReason finish) const {
    std::string out =
        format(R"(,"done_reason":"{}")", finish == FinishReason::length ? "length" : "stop");
    if (state.latency_s >= 0) {
      out += format(R"(,"total_duration":{})", static_cast<std::int64_t>(state.latency_s * 1e9));
    }
    const std::uint64_t made = std::uint64_t{state.made} * options_.said_for_each;
    if (!options_.no_usage) out += format(R"(,"prompt_eval_count":{})", state.prompt_tokens);
    if (!options_.no_usage && made > 0) out += format(R"(,"eval_count":{})", made);
    return out + "}";
  }

  DialectOptions options_;
  bool chat_;
};

}  // namespace

std::unique_ptr<Dialect> make_ollama(const DialectOptions& options, bool chat) {
  return std::make_unique<Ollama>(options, chat);
}

}  // namespace assay::endpoint
