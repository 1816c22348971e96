// Tokens a second on one core, with a vocabulary made here: merges from a text's own words, as in a
// trained vocabulary. tests/peers/tokenizer_speed_test.py compares with the public library.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "base/rng.h"
#include "text/bpe.h"
#include "text/tokenizer.h"

namespace assay::text {
namespace {

// Words of syllables, with common ones repeated often: about as repetitive as prose.
std::string prose(std::size_t bytes) {
  constexpr std::array kSyllables = {"ta", "re",  "mi",  "on", "ex", "pro",  "con",  "ing", "er",
                                     "al", "ous", "ive", "st", "le", "ment", "tion", "qu",  "ar"};
  Rng rng(1);
  std::vector<std::string> words;
  for (int i = 0; i < 20'000; ++i) {
    std::string word;
    for (std::uint64_t n = rng.below(5) + 1; n > 0; --n) {
      word += kSyllables[static_cast<std::size_t>(rng.below(kSyllables.size()))];
    }
    words.push_back(word);
  }
  std::string text;
  while (text.size() < bytes) {
    const auto low = rng.below(words.size());
    text += words[static_cast<std::size_t>(rng.below(low + 1))];
    text += rng.below(12) == 0 ? ", " : " ";
  }
  return text;
}

// "model" of a tokenizer.json: the bytes, and merges that spell the syllables from the left.
Json model() {
  Json vocabulary = Json::object();
  int next = 0;
  const auto token = [&](const std::string& text) {
    if (vocabulary.find(text) == nullptr) vocabulary.set(text, next++);
  };
  for (unsigned b = 0; b < 256; ++b) {
    std::string spelled;
    const char byte = static_cast<char>(b);
    append_byte_level(spelled, {&byte, 1});
    token(spelled);
  }
  Json merges = Json::array();
  for (const char* word : {"ta",
                           "re",
                           "mi",
                           "on",
                           "ex",
                           "pro",
                           "con",
                           "ing",
                           "er",
                           "al",
                           "ous",
                           "ive",
                           "st",
                           "le",
                           "ment",
                           "tion",
                           "qu",
                           "ar",
                           "taon",
                           "reing",
                           "tional",
                           "proment",
                           "conex",
                           "\xC4\xA0"
                           "ta",
                           "\xC4\xA0re"}) {
    std::string left;
    for (std::string_view rest = word; !rest.empty();) {
      const std::size_t length = static_cast<unsigned char>(rest[0]) >= 0x80 ? 2 : 1;
      const std::string one(rest.substr(0, length));
      rest.remove_prefix(length);
      if (!left.empty()) {
        merges.push_back(left + " " + one);
        token(left + one);
      }
      left += one;
    }
  }
  Json made;
  made.set("type", "BPE").set("vocab", vocabulary).set("merges", merges);
  return made;
}

std::unique_ptr<const Tokenizer> tokenizer() {
  Json split;
  split.set("type", "Split")
      .set("behavior", "Isolated")
      .set("pattern",
           Json::object().set("Regex",
                              R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                              R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"));
  Json bytes;
  bytes.set("type", "ByteLevel").set("add_prefix_space", false).set("use_regex", false);
  Json sequence;
  sequence.set("type", "Sequence")
      .set("pretokenizers", Json::array().push_back(split).push_back(bytes));
  Json file;
  file.set("model", model()).set("pre_tokenizer", sequence).set("decoder", bytes);
  auto made = parse_tokenizer_json(file.dump(), "bench");
  CHECK(made.has_value());
  return std::move(*made);
}

void encode(benchmark::State& state) {
  const auto made = tokenizer();
  const std::string text = prose(static_cast<std::size_t>(state.range(0)));
  std::vector<TokenId> ids;
  CHECK(made->encode(text, ids).has_value());
  CHECK(made->decode(ids) == text);
  for (auto _ : state) {
    ids.clear();
    benchmark::DoNotOptimize(made->encode(text, ids).has_value());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(ids.size()) * state.iterations());
}
BENCHMARK(encode)->Arg(2'000)->Arg(1'000'000);

void decode(benchmark::State& state) {
  const auto made = tokenizer();
  const auto ids = made->encode(prose(1'000'000)).value();
  for (auto _ : state) benchmark::DoNotOptimize(made->decode(ids));
  state.SetItemsProcessed(static_cast<std::int64_t>(ids.size()) * state.iterations());
}
BENCHMARK(decode);

}  // namespace
}  // namespace assay::text
