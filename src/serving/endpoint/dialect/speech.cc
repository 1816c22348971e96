// OpenAI's speech: a tone, as samples, as a WAV file whose head comes before the first sound, or as
// MP3 frames of silence; in the bytes of the body, or in base64 in typed events. Each token is 24
// ms of it, which is one frame of that MP3.
#include <cstdint>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "base/wav.h"
#include "endpoint/dialect/kinds.h"
#include "endpoint/dialect/tone.h"

namespace assay::endpoint {
namespace {

// MPEG-2 layer III, 64 kbit/s, 24 kHz, one channel: 576 samples. Zeros decode to silence.
std::string silent_frame() {
  constexpr std::size_t kFrameBytes = 192;
  std::string frame(kFrameBytes, '\0');
  frame.replace(0, 4, "\xFF\xF3\x84\xC0");
  return frame;
}

class Speech final : public Dialect {
 public:
  explicit Speech(const DialectOptions& options) : options_(options) {}

  bool raw(const DialectState& own) const override { return !own.speech.events; }

  std::string_view content_type(const DialectState& own) const override {
    if (own.speech.events) return {};
    switch (own.speech.form) {
      case SpeechForm::pcm:
        return "audio/pcm";
      case SpeechForm::wav:
        return "audio/wav";
      case SpeechForm::mp3:
        return "audio/mpeg";
    }
    return {};
  }

  void opening(DialectOut& out, const ReplyState&, DialectState& own) const override {
    if (own.speech.form != SpeechForm::wav) return;
    put(out, own, wav_head(own.speech.sample_rate, kUnknownLength), Category::other, 0);
  }

  void fragment(DialectOut& out, const ReplyState& state, DialectState& own, Category,
                std::string_view, std::uint32_t tokens) const override {
    put(out, own, sound(own.speech, state.made - tokens, tokens), Category::sound, tokens);
  }

  void tool_opening(DialectOut&, const ReplyState&, DialectState&,
                    std::string_view) const override {}

  // The end of a body of bytes is an event too: a client knows by it that the sound is whole.
  void tail(DialectOut& out, const ReplyState& state, DialectState& own,
            FinishReason) const override {
    if (raw(own)) return out.event("", "", Category::marker, 0);
    if (options_.no_end) return;
    std::string usage;
    if (!options_.no_usage) {
      const std::uint64_t made = std::uint64_t{state.made} * options_.said_for_each;
      usage = format(R"(,"usage":{{"input_tokens":{},"output_tokens":{},"total_tokens":{}}})",
                     state.prompt_tokens, made, state.prompt_tokens + made);
    }
    out.event("speech.audio.done", format(R"({{"type":"speech.audio.done"{}}})", usage),
              Category::finish, 0);
  }

  void error(DialectOut& out, const ReplyState&, DialectState&,
             std::string_view message) const override {
    out.event("speech.audio.error",
              format(R"({{"type":"speech.audio.error","error":{{"message":{},)"
                     R"("type":"server_error"}}}})",
                     json_quote(message)),
              Category::error, 0);
  }

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain&) const override {
    const std::string all = sound(own.speech, 0, state.made);
    if (own.speech.form != SpeechForm::wav) return all;
    return wav_head(own.speech.sample_rate, static_cast<std::uint32_t>(all.size())) + all;
  }

 private:
  static constexpr std::uint32_t kUnknownLength = 0xffff'ffff;

  void put(DialectOut& out, const DialectState& own, std::string_view bytes, Category category,
           std::uint32_t tokens) const {
    if (raw(own)) return out.event("", bytes, category, tokens);
    out.event("speech.audio.delta",
              format(R"({{"type":"speech.audio.delta","audio":"{}"}})", encode_base64(bytes)),
              category, tokens);
  }

  std::string sound(const SpeechAsk& ask, std::uint32_t from, std::uint32_t tokens) const {
    if (ask.form != SpeechForm::mp3) return tone(ask.sample_rate, from, tokens);
    std::string out;
    for (std::uint32_t i = 0; i < tokens; ++i) out += frame_;
    return out;
  }

  DialectOptions options_;
  std::string frame_ = silent_frame();
};

}  // namespace

std::unique_ptr<Dialect> make_speech(const DialectOptions& options) {
  return std::make_unique<Speech>(options);
}

}  // namespace assay::endpoint
