#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "base/base64.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/rng.h"
#include "text/bpe.h"

namespace assay::text {
namespace {

// A byte-level tokenizer: the 256 bytes, then the results of the merges.
Json small_tokenizer(const std::vector<std::pair<std::string, std::string>>& merges) {
  Json vocabulary = Json::object();
  int next = 0;
  for (unsigned b = 0; b < 256; ++b) {
    std::string spelled;
    const char byte = static_cast<char>(b);
    append_byte_level(spelled, {&byte, 1});
    vocabulary.set(spelled, next++);
  }
  Json list = Json::array();
  for (const auto& [left, right] : merges) {
    list.push_back(left + " " + right);
    vocabulary.set(left + right, next++);
  }
  Json model;
  model.set("type", "BPE").set("vocab", vocabulary).set("merges", list);
  Json byte_level;
  byte_level.set("type", "ByteLevel").set("add_prefix_space", false).set("use_regex", true);
  Json special;
  special.set("id", next).set("content", "<|end|>").set("special", true).set("normalized", false);
  Json out;
  out.set("added_tokens", Json::array().push_back(special))
      .set("pre_tokenizer", byte_level)
      .set("model", model)
      .set("decoder", byte_level);
  return out;
}

std::unique_ptr<const Tokenizer> load(const Json& json) {
  auto made = parse_tokenizer_json(json.dump(), "test.json");
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

std::string spelled(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  EXPECT_TRUE(ids) << ids.error().message;
  std::string out;
  for (const TokenId id : *ids) out += tokenizer.token_of(id) + "·";
  return out;
}

TEST(Tokenizer, merges_by_rank_and_leftmost_first) {
  const auto tokenizer = load(small_tokenizer({{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"a", "a"}}));
  EXPECT_EQ(spelled(*tokenizer, "abc"), "abc·");
  EXPECT_EQ(spelled(*tokenizer, "ab"), "ab·");
  EXPECT_EQ(spelled(*tokenizer, "aaa"), "aa·a·");
}

std::string refusal(const Json& normalizer, std::string_view text) {
  Json json = small_tokenizer({});
  json.set("normalizer", normalizer);
  const auto made = parse_tokenizer_json(json.dump(), "test.json");
  if (!made) return made.error().message;
  const auto ids = (*made)->encode(text);
  return ids ? "taken" : ids.error().message;
}

TEST(Tokenizer, a_normalizer_may_not_blow_a_text_up) {
  const std::string text(200'000, 'a');
  const auto replace = [](std::string_view content) {
    return Json()
        .set("type", "Replace")
        .set("pattern", Json().set("Regex", "a"))
        .set("content", content);
  };
  EXPECT_EQ(refusal(replace("bb"), text), "taken");
  EXPECT_NE(refusal(replace(text), text).find("normalizer makes more than"), std::string::npos);
  Json twelve = Json::array();
  for (int i = 0; i < 12; ++i) twelve.push_back(replace("aaaaaaaaaa"));
  const Json sequence = Json().set("type", "Sequence").set("normalizers", twelve);
  EXPECT_NE(refusal(sequence, text).find("normalizer makes more than"), std::string::npos);
  // Each part between added tokens is normalized by itself; all share one limit.
  std::string parts;
  for (int i = 0; i < 1000; ++i) parts += "a<|end|>";
  const Json prepend = Json().set("type", "Prepend").set("prepend", std::string(100'000, 'b'));
  EXPECT_NE(refusal(prepend, parts).find("normalizer makes more than"), std::string::npos);
  Json many = Json::array();
  for (int i = 0; i < 1000; ++i) many.push_back(Json().set("type", "NFC"));
  EXPECT_NE(refusal(Json().set("type", "Sequence").set("normalizers", many), "a")
                .find("more than 200 normalizers"),
            std::string::npos);
}

TEST(Tokenizer, special_tokens_stand_apart) {
  const auto tokenizer = load(small_tokenizer({{"h", "i"}}));
  EXPECT_EQ(spelled(*tokenizer, "hi<|end|>hi"), "hi·<|end|>·hi·");
  const auto ids = tokenizer->encode("hi<|end|>").value();
  EXPECT_EQ(tokenizer->decode(ids), "hi");
  EXPECT_EQ(tokenizer->decode(ids, false), "hi<|end|>");
  EXPECT_TRUE(tokenizer->is_special(ids[1]));
}

TEST(Tokenizer, invalid_utf8_counts_as_replacement_characters) {
  const auto tokenizer = load(small_tokenizer({}));
  EXPECT_EQ(tokenizer->encode("a\xFFz").value(), tokenizer->encode("a\uFFFDz").value());
}

TEST(Tokenizer, a_character_cut_in_two_is_held_back_until_it_is_whole) {
  const auto tokenizer = load(small_tokenizer({}));
  const std::string text = "é漢😀!";
  const auto ids = tokenizer->encode(text).value();
  ASSERT_EQ(ids.size(), text.size());
  StreamDecoder decoder(*tokenizer);
  std::string out;
  for (const TokenId id : ids) {
    const std::string piece = decoder.push(id);
    EXPECT_EQ(piece.find("\uFFFD"), std::string::npos);
    out += piece;
  }
  EXPECT_EQ(out + decoder.finish(), text);
  StreamDecoder cut(*tokenizer);
  EXPECT_EQ(cut.push(ids[0]), "");
  EXPECT_EQ(cut.finish(), "\uFFFD");
}

TEST(Tokenizer, many_threads_may_use_it_at_once) {
  const auto tokenizer = load(small_tokenizer({{"t", "h"}, {"th", "e"}, {"Ġ", "the"}}));
  const std::string text = "the other theory of the thing, then this";
  const auto want = tokenizer->encode(text).value();
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (tokenizer->encode(text).value() != want) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Tokenizer, long_and_short_words_merge_alike) {
  // Compares the merges by the scan and by the heap: each word alone, and inside a longer one whose
  // other half merges with nothing.
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<std::string> tokens{"a", "b", "c"};
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    const std::string left = tokens[static_cast<std::size_t>(rng.below(tokens.size()))];
    const std::string right = tokens[static_cast<std::size_t>(rng.below(tokens.size()))];
    if (std::find(tokens.begin(), tokens.end(), left + right) != tokens.end()) continue;
    merges.emplace_back(left, right);
    tokens.push_back(left + right);
  }
  const auto tokenizer = load(small_tokenizer(merges));
  const std::string other(60, 'z');
  for (int i = 0; i < 500; ++i) {
    std::string word;
    for (std::uint64_t n = rng.below(44) + 1; n > 0; --n) {
      word += static_cast<char>('a' + static_cast<char>(rng.below(3)));
    }
    const auto alone = tokenizer->encode(word).value();
    auto joined = tokenizer->encode(word + other).value();
    joined.resize(joined.size() - other.size());
    EXPECT_EQ(alone, joined) << word;
  }
}

TEST(Tokenizer, broken_files_say_what_is_wrong) {
  const auto error = [](std::string_view bytes) {
    const auto made = parse_tokenizer_json(bytes, "x.json");
    return made ? std::string("loaded") : made.error().message;
  };
  EXPECT_NE(error("{").find("x.json: not valid JSON"), std::string::npos);
  EXPECT_NE(error("{}").find("no \"model\""), std::string::npos);
  EXPECT_NE(error(R"({"model":{"type":"Oracle"}})").find("no such type 'Oracle'"),
            std::string::npos);
  EXPECT_NE(error(R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})").find("vocab['a']"),
            std::string::npos);
  EXPECT_NE(
      error(R"({"model":{"type":"BPE","vocab":{"a":99999999999},"merges":[]}})").find("vocab['a']"),
      std::string::npos);
  EXPECT_NE(error(R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})").find("merges[0]"),
            std::string::npos);
  EXPECT_NE(error(R"({"normalizer":{"type":"Magic"},"model":{"type":"BPE"}})")
                .find("normalizer: no such normalizer"),
            std::string::npos);
  EXPECT_NE(error(R"({"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="},
                      "model":{"type":"BPE"}})")
                .find("trie is larger"),
            std::string::npos);
}

TEST(Tokenizer, what_cannot_be_spelled_is_an_error) {
  const auto tokenizer = parse_tokenizer_json(
      R"({"model":{"type":"Unigram","unk_id":null,"vocab":[["a",-1.0]]}})", "x.json");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->encode("aa").value().size(), 2u);
  const auto bad = (*tokenizer)->encode("ab");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("no token for 'ab'"), std::string::npos);
}

TEST(Tokenizer, a_regex_that_explodes_is_an_error) {
  const auto tokenizer = parse_tokenizer_json(
      R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?:a+)+b"},"behavior":"Isolated"},
          "model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}})",
      "x.json");
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  const auto bad = (*tokenizer)->encode(std::string(60, 'a'));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("too many steps"), std::string::npos);
  EXPECT_EQ((*tokenizer)->encode("aab").value().size(), 1u);
}

TEST(Tiktoken, a_byte_that_is_missing_is_named) {
  const auto made = parse_tiktoken("YQ== 0\n", "gpt2.tiktoken", {});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("no token for byte 0x00"), std::string::npos);
  const auto bad = parse_tiktoken("!!! 0\n", "gpt2.tiktoken", {});
  EXPECT_NE(bad.error().message.find("line 1"), std::string::npos);
}

TEST(SentencePiece, bytes_that_are_no_model_are_an_error) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    std::string bytes = "\n";
    for (std::uint64_t n = rng.below(200); n > 0; --n) bytes += static_cast<char>(rng.below(256));
    const auto made = parse_sentencepiece(bytes, "x.model");
    EXPECT_TRUE(!made || (*made)->count("hello").has_value()) << seed;
  }
}

// The slow twin: a word's pieces, joined pair by pair, the lowest rank first and the leftmost of
// it.
std::vector<TokenId> merged_slowly(const std::map<std::string, TokenId>& ranks, std::string word) {
  if (const auto whole = ranks.find(word); whole != ranks.end()) return {whole->second};
  std::vector<std::string> pieces;
  for (const char c : word) pieces.emplace_back(1, c);
  for (;;) {
    TokenId best = kTokenIdMax;
    std::size_t at = pieces.size();
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto joined = ranks.find(pieces[i] + pieces[i + 1]);
      if (joined == ranks.end() || joined->second >= best) continue;
      best = joined->second;
      at = i;
    }
    if (at == pieces.size()) break;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<TokenId> ids;
  for (const std::string& piece : pieces) ids.push_back(ranks.at(piece));
  return ids;
}

TEST(Tokenizer, a_tiktoken_file_gives_the_ids_of_the_slow_twin) {
  Rng rng(11);
  std::map<std::string, TokenId> ranks;
  std::vector<std::string> tokens;  // by id
  const auto add = [&](const std::string& token) {
    if (ranks.try_emplace(token, static_cast<TokenId>(tokens.size())).second) {
      tokens.push_back(token);
    }
  };
  for (unsigned b = 0; b < 256; ++b) add(std::string(1, static_cast<char>(b)));
  const std::array<std::string, 6> letters = {"a", "b", "c", "d", "\xC3\xA9", " "};
  for (std::size_t made = 0; made < 500; ++made) {
    const auto part = [&] {
      const auto which = static_cast<std::size_t>(rng.below(letters.size() + made));
      return which < letters.size() ? letters[which] : tokens[tokens.size() - 1 - which % made];
    };
    const std::string joined = part() + part();
    if (joined.size() <= 24) add(joined);
  }
  std::string file;
  for (const auto& [token, id] : ranks) file += encode_base64(token) + format(" {}\n", id);
  const auto made = parse_tiktoken(file, "x", {.tiktoken_pattern = R"( ?\S+|\s)"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    std::vector<TokenId> want;
    for (std::uint64_t words = rng.below(6) + 1; words > 0; --words) {
      std::string word = text.empty() ? "" : " ";
      for (std::uint64_t n = rng.below(rng.below(8) == 0 ? 80 : 9) + 1; n > 0; --n) {
        word += std::array{"a", "b", "c", "d", "\xC3\xA9"}[static_cast<std::size_t>(rng.below(5))];
      }
      text += word;
      const std::vector<TokenId> ids = merged_slowly(ranks, word);
      want.insert(want.end(), ids.begin(), ids.end());
    }
    ASSERT_EQ((*made)->encode(text).value(), want) << text;
  }
}

}  // namespace
}  // namespace assay::text
