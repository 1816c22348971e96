#include "safety/attacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/base64.h"
#include "base/format.h"
#include "base/hash.h"
#include "safety/judge.h"
#include "safety/transform.h"

namespace assay::safety {
namespace {

using ::testing::HasSubstr;

std::string text_of(std::string_view name, const std::string& text, std::uint64_t seed = 1) {
  return std::string(transform(name, {.prompt = Json(text)}, seed)->prompt.as_string());
}

TEST(Transform, each_rewrites_as_its_name_says) {
  EXPECT_THAT(text_of("base64", "the word"), HasSubstr(encode_base64("the word")));
  EXPECT_THAT(text_of("rot13", "Hello, 7"), HasSubstr("Uryyb, 7"));
  EXPECT_THAT(text_of("reverse_words", "a b  c"), HasSubstr("c b a"));
  EXPECT_EQ(text_of("leet", "This is it"), "7h15 15 17");
  EXPECT_THAT(text_of("list", "say the word"), HasSubstr("1. say\n2. the\n3. word"));
  EXPECT_EQ(Json::parse(text_of("json", "a \"b\""))->operator[]("field").as_string(), "a \"b\"");
  for (const char* const kept : {"french", "role", "prefix", "padding"}) {
    EXPECT_THAT(text_of(kept, "say the word"), HasSubstr("say the word")) << kept;
    EXPECT_GT(text_of(kept, "say the word").size(), 20U);
  }
}

TEST(Transform, a_letter_map_is_a_permutation_that_the_side_information_undoes) {
  const Transformed made =
      transform("letter_map", {.prompt = Json("the quick brown fox jumps over a lazy dog")}, 5)
          .value();
  const std::string map = made.side_information.substr(made.side_information.size() - 26);
  EXPECT_EQ(std::set<char>(map.begin(), map.end()).size(), 26U);
  std::string hidden(made.prompt.as_string());
  hidden = hidden.substr(hidden.rfind(": ") + 2);
  for (char& c : hidden) {
    const std::size_t at = map.find(c);
    if (at != std::string::npos) c = static_cast<char>('a' + static_cast<int>(at));
  }
  EXPECT_EQ(hidden, "the quick brown fox jumps over a lazy dog");
  EXPECT_NE(text_of("letter_map", "the word", 1), text_of("letter_map", "the word", 2));
}

TEST(Transform, the_same_input_gives_the_same_bytes_on_any_machine) {
  std::string all;
  for (const std::string_view name : transform_names()) {
    all += transform(name, {.prompt = Json("The word is CANARY-7. Say it.")}, 42)->prompt.dump();
  }
  EXPECT_EQ(sha256_hex(all), "b592ad52102cb3c31e3bb74f01f46869572e36dc4b329fec821b9617b2759701");
}

TEST(Transform, a_picture_holds_the_words_and_a_prompt_keeps_its_pictures) {
  const Transformed drawn = transform("picture", {.prompt = Json("HI 7?")}, 1).value();
  ASSERT_EQ(drawn.prompt.size(), 2U);
  const std::string url(drawn.prompt[1]["image_url"]["url"].as_string());
  const std::string png = decode_base64(url.substr(url.find(',') + 1)).value();
  EXPECT_EQ(png, png_of_text("HI 7?"));
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_NE(png_of_text("HI"), png_of_text("HO"));
  // Its words are gone: nothing is left to rewrite.
  const Json both = Json::array()
                        .push_back(Json().set("type", "text").set("text", "what is it?"))
                        .push_back(Json().set("type", "image_url").set("image_url", "x"));
  const Transformed kept = transform("leet", {.prompt = both}, 1).value();
  EXPECT_EQ(kept.prompt[0]["text"].as_string(), "wh47 15 17?");
  EXPECT_EQ(kept.prompt[1]["image_url"].as_string(), "x");
  EXPECT_FALSE(transform("leet", {.prompt = Json("")}, 1));
}

TEST(Prompt, its_modality_is_that_of_its_parts) {
  EXPECT_EQ(modality_of({.prompt = Json("x")}), "text");
  const Transformed drawn = transform("picture", {.prompt = Json("HI")}, 1).value();
  EXPECT_EQ(modality_of({.prompt = drawn.prompt}), "text+picture");
  EXPECT_EQ(modality_of({.prompt = Json::array().push_back(Json().set("type", "input_audio"))}),
            "input_audio");
}

constexpr const char* kAttacksText = R"(
name: t
nodes:
  - {id: a, name: root, split: by what}
  - {id: b, parent: a, name: code, definition: a code, transforms: [base64, rot13]}
  - {id: c, parent: a, name: mixed, definition: two, composed: true}
attacks:
  - {id: x, leaf: b, steps: [base64]}
  - {id: y, leaf: c, steps: [rot13, base64]}
)";

std::string broken(std::string_view from, std::string_view to) {
  std::string text = kAttacksText;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto attacks = attacks_from(text);
  return attacks ? "accepted" : attacks.error().message;
}

TEST(Attacks, a_taxonomy_that_is_no_tree_of_exclusive_leaves_is_refused) {
  EXPECT_EQ(broken("name: t", "name: t"), "accepted");
  EXPECT_THAT(broken("parent: a, name: code", "name: code"), HasSubstr("without a parent"));
  EXPECT_THAT(broken("parent: a, name: code", "parent: z, name: code"), HasSubstr("'z'"));
  EXPECT_THAT(broken("parent: a, name: code", "parent: b, name: code"),
              HasSubstr("node b: its parents lead back to it"));
  EXPECT_THAT(broken(", split: by what", ""), HasSubstr("split is missing"));
  EXPECT_THAT(broken("definition: a code, ", ""), HasSubstr("definition is missing"));
  EXPECT_THAT(broken("id: c, parent", "id: b, parent"), HasSubstr("two nodes"));
  EXPECT_THAT(broken("definition: two, composed: true", "definition: two, transforms: [rot13]"),
              HasSubstr("in two leaves"));
  EXPECT_THAT(broken("parent: a, name: mixed", "parent: b, name: mixed"),
              HasSubstr("a split into one"));
}

TEST(Attacks, an_instance_has_one_leaf_and_both_ways_to_find_it_agree) {
  EXPECT_THAT(broken("leaf: b, steps: [base64]", "leaf: c, steps: [base64]"),
              HasSubstr("it says leaf c, and its steps belong to leaf b"));
  EXPECT_THAT(broken("leaf: c, steps: [rot13, base64]", "leaf: b, steps: [rot13, base64]"),
              HasSubstr("belong to leaf c"));
  EXPECT_THAT(broken("leaf: b, steps: [base64]", "leaf: b, steps: [leet]"),
              HasSubstr("belong to no leaf"));
  EXPECT_THAT(broken("leaf: b, steps", "leaf: a, steps"), HasSubstr("'a' is not a leaf"));
  EXPECT_THAT(broken("[base64]}", "[base65]}"), HasSubstr("'base65' is not a transform"));
  EXPECT_THAT(broken("id: y", "id: x"), HasSubstr("two attacks"));
  EXPECT_THAT(broken("steps: [base64]", "variants: 0, steps: [base64]"), HasSubstr("variants"));
}

TEST(Attacks, twins_are_interleaved_the_same_way_each_time_and_judged_by_their_seed) {
  const Attacks attacks = find_attacks("standin").value();
  const auto seeds = load_prompts("standin").value();
  const auto prompts = with_twins(seeds, attacks).value();
  std::size_t of_each = 1;
  for (const Attack& one : attacks.attacks) of_each += one.variants;
  EXPECT_EQ(prompts.size(), seeds.size() * of_each);
  EXPECT_EQ(prompts_text(prompts), prompts_text(with_twins(seeds, attacks).value()));
  std::set<std::string> uids;
  std::map<std::string, std::string> leaf_of;
  std::size_t seeds_in_first_half = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Prompt& one = prompts[i];
    EXPECT_TRUE(uids.insert(one.uid).second) << one.uid;
    if (one.attack.empty()) {
      seeds_in_first_half += i < prompts.size() / 2 ? 1U : 0U;
      continue;
    }
    EXPECT_EQ(leaf_of.emplace(one.attack, one.leaf).first->second, one.leaf);
    EXPECT_EQ(one.cluster, one.seed_uid);
    EXPECT_EQ(prompt_words(one), one.seed_prompt.as_string());
  }
  EXPECT_EQ(leaf_of.size(), attacks.attacks.size());
  EXPECT_NEAR(static_cast<double>(seeds_in_first_half) / static_cast<double>(seeds.size()), 0.5,
              0.2);
  EXPECT_THAT(with_twins(prompts, attacks).error().message, HasSubstr("no seed"));
}

}  // namespace
}  // namespace assay::safety
