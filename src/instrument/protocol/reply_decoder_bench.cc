// The cost of decoding one stream event, by the learned template and by the whole grammar, for the
// three shapes of spec/dependencies.md, 2.5. Both decode each stream first, and their results must
// be equal; reply_decoder_test.cc compares both with a twin that shares no code.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/json.h"
#include "protocol/codec.h"
#include "protocol/reply_twin.h"

namespace assay::protocol {
namespace {

enum class Shape { vllm, openai, minimal };

std::string event(Shape shape, const std::string& word) {
  switch (shape) {
    case Shape::vllm:
      return format(
          R"({{"id":"chatcmpl-0a1b2c3d4e5f60718293a4b5c6d7e8f9","object":"chat.completion.chunk",)"
          R"("created":1763650000,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{{"index":)"
          R"(0,"delta":{{"content":{}}},"logprobs":null,"finish_reason":null}}]}})",
          word);
    case Shape::openai:
      return format(
          R"({{"id":"chatcmpl-CdQ0a1b2c3d4e5f6071829","object":"chat.completion.chunk",)"
          R"("created":1763650000,"model":"gpt-4o-mini-2024-07-18","service_tier":"default",)"
          R"("system_fingerprint":"fp_560af6e559","choices":[{{"index":0,"delta":{{"content":{}}},)"
          R"("logprobs":null,"finish_reason":null,"content_filter_results":{{"hate":{{"filtered":)"
          R"(false,"severity":"safe"}},"self_harm":{{"filtered":false,"severity":"safe"}}}}}}],)"
          R"("usage":null,"obfuscation":"Qx8rT2"}})",
          word);
    case Shape::minimal:
      return format(R"({{"choices":[{{"index":0,"delta":{{"content":{}}}}}]}})", word);
  }
  return "";
}

// Events one behind the other, as in a receive buffer.
struct Stream {
  std::string bytes{};
  std::vector<std::string_view> events{};
};

Stream make_stream(Shape shape) {
  std::vector<std::string> texts;
  const char* const words[] = {" the",   " quick", " brown",    " fox", ",",
                               " jumps", "\n",     " \"over\"", " it",  "."};
  for (int i = 0; i < 4096; ++i) texts.push_back(event(shape, json_quote(words[i % 10])));
  Stream out;
  std::vector<std::size_t> begins;
  for (const std::string& text : texts) {
    begins.push_back(out.bytes.size());
    out.bytes += text + "\n\ndata: ";
  }
  out.bytes.append(kDecodePadding, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.events.emplace_back(out.bytes.data() + begins[i], texts[i].size());
  }
  return out;
}

void prove(const Stream& stream) {
  ReplyDecoder fast;
  ReplyDecoder slow;
  ReplyTwin twin;
  StreamState state;
  StreamState ignored;
  DecodedEvent a;
  DecodedEvent b;
  for (const std::string_view data : stream.events) {
    fast.decode(data, state, a);
    slow.decode_slowly(data, ignored, b);
    CHECK(own(a) == own(b));
    CHECK(own(b) == twin.read(*Json::parse(data)));
  }
  CHECK(state.template_hits == stream.events.size() - 1);
}

void run(benchmark::State& bench, bool by_template) {
  const Stream stream = make_stream(static_cast<Shape>(bench.range(0)));
  prove(stream);
  ReplyDecoder decoder;
  StreamState state;
  DecodedEvent out;
  std::uint64_t bytes = 0;
  for (auto _ : bench) {
    for (const std::string_view data : stream.events) {
      if (by_template) {
        decoder.decode(data, state, out);
      } else {
        decoder.decode_slowly(data, state, out);
      }
      bytes += out.fragments[0].text.size();
    }
  }
  benchmark::DoNotOptimize(bytes);
  const auto events = bench.iterations() * static_cast<std::int64_t>(stream.events.size());
  bench.SetItemsProcessed(events);
  bench.counters["event_bytes"] = static_cast<double>(stream.events[0].size());
  bench.counters["per_event"] = benchmark::Counter(
      static_cast<double>(events), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_decode_by_template(benchmark::State& bench) { run(bench, true); }
void BM_decode_by_grammar(benchmark::State& bench) { run(bench, false); }
BENCHMARK(BM_decode_by_template)->ArgName("shape")->DenseRange(0, 2);
BENCHMARK(BM_decode_by_grammar)->ArgName("shape")->DenseRange(0, 2);

void BM_decode_whole_reply(benchmark::State& bench) {
  std::string body =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1763650000,"model":"m","choices":)"
      R"([{"index":0,"message":{"role":"assistant","content":"ok"},"logprobs":null,)"
      R"("finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,)"
      R"("total_tokens":10}})";
  const std::size_t size = body.size();
  body.append(kDecodePadding, '\0');
  ReplyDecoder decoder;
  DecodedEvent out;
  decoder.decode_reply(Api::openai, {body.data(), size}, out);
  CHECK(own(out) == ReplyTwin().read(*Json::parse({body.data(), size})));
  for (auto _ : bench) {
    decoder.decode_reply(Api::openai, {body.data(), size}, out);
    benchmark::DoNotOptimize(out.fragments[0].text.data());
  }
}
BENCHMARK(BM_decode_whole_reply);

}  // namespace
}  // namespace assay::protocol
