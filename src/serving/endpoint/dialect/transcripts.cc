// OpenAI's transcriptions and translations: typed events with pieces of the text, and one with the
// whole of it at the end; or one object.
#include "base/format.h"
#include "base/json.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {
namespace {

class Transcripts final : public Dialect {
 public:
  explicit Transcripts(const DialectOptions& options) : options_(options) {}

  void opening(DialectOut&, const ReplyState&, DialectState&) const override {}

  void fragment(DialectOut& out, const ReplyState&, DialectState& own, Category,
                std::string_view json, std::uint32_t tokens) const override {
    own.said += json;
    out.event("transcript.text.delta",
              format(R"({{"type":"transcript.text.delta","delta":"{}"}})", json), Category::text,
              tokens);
  }

  void tool_opening(DialectOut&, const ReplyState&, DialectState&,
                    std::string_view) const override {}

  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason) const override {
    if (options_.no_end) return;
    out.event("transcript.text.done",
              format(R"({{"type":"transcript.text.done","text":"{}"{}}})", own.said, usage(state)),
              Category::finish, 0);
  }

  void error(DialectOut& out, const ReplyState&, DialectState&,
             std::string_view message) const override {
    out.event("error",
              format(R"({{"type":"error","error":{{"message":{},"type":"server_error"}}}})",
                     json_quote(message)),
              Category::error, 0);
  }

  std::string plain(const ReplyState& state, const DialectState&,
                    const Wire::Plain& reply) const override {
    return format(R"({{"text":"{}"{}}})", reply.text, usage(state));
  }

 private:
  std::string usage(const ReplyState& state) const {
    if (options_.no_usage) return "";
    const std::uint64_t made = std::uint64_t{state.made} * options_.said_for_each;
    return format(R"(,"usage":{{"type":"tokens","input_tokens":{0},"input_token_details":)"
                  R"({{"audio_tokens":{0},"text_tokens":0}},"output_tokens":{1},)"
                  R"("total_tokens":{2}}})",
                  state.prompt_tokens, made, state.prompt_tokens + made);
  }

  DialectOptions options_;
};

}  // namespace

std::unique_ptr<Dialect> make_transcripts(const DialectOptions& options) {
  return std::make_unique<Transcripts>(options);
}

}  // namespace assay::endpoint
