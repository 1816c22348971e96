#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "text/tokenizer.h"

namespace assay::text {
namespace {

constexpr int kControl = 30;

// The 256 bytes, "an", " the" in three ranks; `kControl` control tokens before them.
Json small_tekken(const char* version) {
  Json vocabulary = Json::array();
  const auto add = [&vocabulary](std::string_view bytes) {
    vocabulary.push_back(Json()
                             .set("rank", vocabulary.size())
                             .set("token_bytes", encode_base64(bytes))
                             .set("token_str", nullptr));
  };
  for (unsigned b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    add({&byte, 1});
  }
  for (const char* merged : {"an", "th", "the", " the", "unused"}) add(merged);
  Json out;
  out.set("config", Json()
                        .set("pattern", R"([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+)")
                        .set("num_vocab_tokens", vocabulary.size())
                        .set("default_vocab_size", 256 + 4 + kControl)
                        .set("default_num_special_tokens", kControl)
                        .set("version", version))
      .set("vocab", vocabulary);
  return out;
}

std::unique_ptr<const Tokenizer> load_tekken(const Json& json) {
  auto made = parse_tokenizer_json(json.dump(), "tekken.json");
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

std::string tekken_refusal(const Json& json) {
  const auto made = parse_tokenizer_json(json.dump(), "tekken.json");
  return made ? "taken" : made.error().message;
}

TEST(Tekken, ids_begin_after_the_control_tokens) {
  const auto tokenizer = load_tekken(small_tekken("v3"));
  const std::vector<TokenId> want{'b' + kControl, 256 + kControl, 259 + kControl};
  EXPECT_EQ(tokenizer->encode("ban the").value(), want);
  EXPECT_EQ(tokenizer->decode(want), "ban the");
  // config.default_vocab_size leaves the last one out.
  EXPECT_EQ(tokenizer->count("unused").value(), 6u);
  EXPECT_EQ(tokenizer->id_end(), 256u + 4 + kControl);
  EXPECT_EQ(tokenizer->encode("b", true).value(), (std::vector<TokenId>{1, 'b' + kControl}));
}

TEST(Tekken, a_control_token_is_plain_text_unless_a_template_made_it) {
  const auto tokenizer = load_tekken(small_tekken("v3"));
  EXPECT_EQ(tokenizer->count("[INST]ban[/INST]").value(), 15u);
  EXPECT_EQ(tokenizer->count_rendered("[INST]ban[/INST]").value(), 4u);
  EXPECT_EQ(tokenizer->id_of("[/INST]"), 4);
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{3, 'b' + kControl, 4}), "b");
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{3, 'b' + kControl, 4}, false), "[INST]b[/INST]");
  EXPECT_EQ(tokenizer->token_of(kControl - 1), "<SPECIAL_29>");
}

TEST(Tekken, a_file_may_name_its_own_control_tokens) {
  Json json = small_tekken("v11");
  json.set(
      "special_tokens",
      Json::array()
          .push_back(Json().set("rank", 0).set("token_str", "<unk>").set("is_control", true))
          .push_back(Json().set("rank", 1).set("token_str", "<s>").set("is_control", true))
          .push_back(Json().set("rank", 7).set("token_str", "[THINK]").set("is_control", true)));
  const auto tokenizer = load_tekken(json);
  EXPECT_EQ(tokenizer->id_of("[THINK]"), 7);
  EXPECT_FALSE(tokenizer->id_of("[INST]").has_value());
  EXPECT_EQ(tokenizer->token_of(3), "<SPECIAL_3>");
}

TEST(Tekken, broken_files_say_what_is_wrong) {
  const Json good = small_tekken("v3");
  Json few = good;
  few.find("config")->set("default_vocab_size", 5000);
  EXPECT_NE(tekken_refusal(few).find("vocab: 261 tokens"), std::string::npos);
  Json none = good;
  none.find("config")->set("default_num_special_tokens", "1000");
  EXPECT_NE(tekken_refusal(none).find("config.default_num_special_tokens"), std::string::npos);
  Json more = good;
  more.find("config")->set("default_num_special_tokens", 9000);
  EXPECT_NE(tekken_refusal(more).find("more special tokens"), std::string::npos);
  Json odd = good;
  odd.find("vocab")->make_array()[3].set("token_bytes", "!");
  EXPECT_NE(tekken_refusal(odd).find("vocab[3]"), std::string::npos);
  Json twice = good;
  twice.find("vocab")->make_array()[257].set("token_bytes", encode_base64("an"));
  EXPECT_NE(tekken_refusal(twice).find("vocab[257]: the same bytes"), std::string::npos);
  Json regex = good;
  regex.find("config")->set("pattern", "(");
  EXPECT_NE(tekken_refusal(regex), "taken");
  Json rank = good;
  rank.set("special_tokens",
           Json::array().push_back(Json().set("rank", kControl).set("token_str", "<x>")));
  EXPECT_NE(tekken_refusal(rank).find("special_tokens[0]"), std::string::npos);
}

TEST(Tiktoken, whispers_empty_token_is_read) {
  std::string ranks;
  for (unsigned b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    ranks += encode_base64({&byte, 1}) + format(" {}\n", b);
  }
  ranks += encode_base64("an") + " 256\n= 257\n";
  const auto made = parse_tiktoken(ranks, "multilingual.tiktoken", {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ((*made)->encode("ban").value(), (std::vector<TokenId>{'b', 256}));
  EXPECT_EQ((*made)->encode("").value(), std::vector<TokenId>{});
  EXPECT_EQ((*made)->decode(std::vector<TokenId>{'b', 257, 256}), "ban");
  EXPECT_EQ((*made)->id_end(), 258u);
}

}  // namespace
}  // namespace assay::text
