#include "dataset/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/base64.h"
#include "base/files.h"
#include "base/format.h"
#include "dataset/dataset.h"
#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

class TraceTest : public testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    EXPECT_TRUE(write_file_atomic(path, text));
    return path.string();
  }
  std::string folder_ = testing::TempDir() + "/assay_trace_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr std::string_view kMooncake =
    R"({"timestamp": 27482, "input_length": 1100, "output_length": 52, "hash_ids": [46, 47, 48]})"
    "\n"
    R"({"timestamp": 30535, "input_length": 1030, "output_length": 26, "hash_ids": [46, 47, 99]})"
    "\n"
    R"({"timestamp": 29000, "input_length": 700, "output_length": 8, "hash_ids": [46, 7]})"
    "\n";

TEST_F(TraceTest, equal_hashes_are_equal_prefixes_and_times_are_the_schedule) {
  const auto data = load_dataset({.path = file("t.jsonl", kMooncake), .prefer_token_ids = true});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 3U);
  // In order of time, from 0.
  EXPECT_THAT(data->arrivals, testing::ElementsAre(Duration{}, Duration::from_seconds(1.518),
                                                   Duration::from_seconds(3.053)));
  const auto& first = data->samples[0].input_tokens;
  const auto& second = data->samples[2].input_tokens;
  const auto& third = data->samples[1].input_tokens;
  ASSERT_EQ(first.size(), 1100U);
  ASSERT_EQ(second.size(), 1030U);
  ASSERT_EQ(third.size(), 700U);
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + 1024, second.begin()));
  EXPECT_FALSE(std::equal(first.begin() + 1024, first.begin() + 1030, second.begin() + 1024));
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + 512, third.begin()));
  EXPECT_FALSE(std::equal(first.begin() + 512, first.begin() + 700, third.begin() + 512));
  EXPECT_EQ(data->samples[0].output_tokens_max, 52);
  const auto text = load_dataset({.path = file("t.jsonl", kMooncake)});
  ASSERT_TRUE(text);
  const std::string& a = text->samples[0].prompt;
  const std::string& b = text->samples[2].prompt;
  const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  EXPECT_GT(differ, 2 * 512 * 3);  // two blocks of some 400 words
}

TEST_F(TraceTest, a_batch_is_what_its_bodies_ask) {
  const auto data = load_dataset(
      {.path = file("batch.jsonl",
                    R"({"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":)"
                    R"({"model":"x","messages":[{"role":"user","content":"hi"}],"max_tokens":9,)"
                    R"("stream":true,"stop":["."],"temperature":0.5}})"
                    "\n"
                    R"({"custom_id":"b","method":"POST","url":"/v1/completions","body":)"
                    R"({"prompt":[5,6]}})")});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->samples[0].messages.dump(), R"([{"role":"user","content":"hi"}])");
  EXPECT_EQ(data->samples[0].output_tokens_max, 9);
  EXPECT_EQ(data->samples[0].body.dump(), R"({"stop":["."],"temperature":0.5})");
  EXPECT_EQ(data->samples[1].input_tokens, (std::vector<std::int32_t>{5, 6}));
  EXPECT_TRUE(data->arrivals.empty());
}

TEST_F(TraceTest, azures_rows_are_lengths_at_instants) {
  const auto data = load_dataset({.path = file("azure.csv",
                                               "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                               "2023-11-16 23:59:59.5000000,4808,10\n"
                                               "2023-11-17 00:00:00.2500000,110,27\n"),
                                  .prefer_token_ids = true});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2U);
  EXPECT_EQ(data->samples[0].input_tokens.size(), 4808U);
  EXPECT_EQ(data->samples[1].output_tokens_max, 27);
  EXPECT_EQ(data->arrivals.front(), Duration{});
  EXPECT_NEAR(data->arrivals.back().seconds(), 0.75, 1e-6);
  const auto later = load_dataset(
      {.path = file("azure24.csv",
                    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                    "2024-02-28 23:00:00.000000+00:00,5,6\n2024-03-01 01:00:00+00:00,7,8\n")});
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->arrivals.back(), Duration::from_seconds(26 * 3600));  // a leap year
}

TEST_F(TraceTest, burstgpts_failed_requests_are_left_out_and_counted) {
  const auto data = load_dataset(
      {.path = file("burst.csv",
                    "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                    "5,ChatGPT,472,18,490,Conversation log\n"
                    "45.5,ChatGPT,1087,230,1317,Conversation log\n"
                    "118,GPT-4,417,0,417,API log\n")});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2U);
  EXPECT_EQ(data->samples[1].output_tokens_max, 230);
  EXPECT_FALSE(data->samples[0].prompt.empty());
  EXPECT_EQ(data->arrivals.back(), Duration::from_seconds(40.5));
  EXPECT_THAT(data->notes, testing::Contains(HasSubstr("1 of 3 requests have no tokens")));
}

TEST_F(TraceTest, bailians_rows_have_seconds_and_blocks_of_16_tokens) {
  const auto data = load_dataset(
      {.path = file("bailian.jsonl",
                    R"({"chat_id": 5, "parent_chat_id": -1, "timestamp": 3.25, "input_length": 40,)"
                    R"( "output_length": 9, "turn": 1, "hash_ids": [1, 2, 3]})"
                    "\n"
                    R"({"chat_id": 9, "parent_chat_id": 5, "timestamp": 31.5, "input_length": 66,)"
                    R"( "output_length": 0, "turn": 2, "hash_ids": [1, 2, 3, 4, 5]})"
                    "\n"
                    R"({"chat_id": 10, "parent_chat_id": 5, "timestamp": 33.25, "input_length": 50)"
                    R"(, "output_length": 12, "turn": 2, "hash_ids": [1, 2, 7, 4]})"
                    "\n"),
       .prefer_token_ids = true});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2U);
  EXPECT_EQ(data->arrivals.back(), 30_s);
  const auto& first = data->samples[0].input_tokens;
  const auto& second = data->samples[1].input_tokens;
  ASSERT_EQ(first.size(), 40U);
  const auto apart = std::mismatch(first.begin(), first.end(), second.begin());
  EXPECT_EQ(apart.first - first.begin(), 32) << "two blocks are shared";
}

TEST_F(TraceTest, broken_lengths_are_named) {
  const auto error = [&](const char* head, const char* row) {
    const auto data = load_dataset({.path = file("t.csv", format("{}\n{}\n", head, row))});
    return data ? std::string("no error") : data.error().message;
  };
  const char* azure = "TIMESTAMP,ContextTokens,GeneratedTokens";
  EXPECT_THAT(error(azure, "2023-13-16 18:17:03,1,1"), HasSubstr("t.csv:2: TIMESTAMP"));
  EXPECT_THAT(error(azure, "2023-11-16 18:17,1,1"), HasSubstr("TIMESTAMP"));
  EXPECT_THAT(error(azure, "2023-11-16 18:17:03x5,1,1"), HasSubstr("TIMESTAMP"));
  EXPECT_THAT(error(azure, "2023-11-16 18:17:03,x,1"), HasSubstr("ContextTokens"));
  EXPECT_THAT(error(azure, "2023-11-16 18:17:03,1,0.5"), HasSubstr("GeneratedTokens"));
  const char* burst = "Timestamp,Request tokens,Response tokens";
  EXPECT_THAT(error(burst, "soon,1,1"), HasSubstr("Timestamp"));
  EXPECT_THAT(error(burst, "-1,1,1"), HasSubstr("timestamp"));
  EXPECT_THAT(error(burst, "1,1,0"), HasSubstr("no request has tokens"));
}

TEST_F(TraceTest, a_row_has_blocks_of_its_own_size_and_one_that_failed_is_left_out) {
  const auto data = load_dataset(
      {.path =
           file("t.jsonl",
                R"({"timestamp": 9, "input_length": 40, "output_length": 3, "hash_ids": [0, 1], )"
                R"("block_size": 16, "status": 200, "api": "chat", "session": 1})"
                "\n"
                R"({"timestamp": 2, "input_length": 20, "output_length": 3, "hash_ids": [0, 7], )"
                R"("block_size": 16, "status": 200})"
                "\n"
                R"({"timestamp": 5, "input_length": 40, "output_length": 0, "hash_ids": [0], )"
                R"("block_size": 16, "status": 500})"
                "\n"),
       .prefer_token_ids = true});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->samples.size(), 2U);
  const auto& first = data->samples[0].input_tokens;  // in the order of time
  const auto& second = data->samples[1].input_tokens;
  ASSERT_EQ(first.size(), 20U);
  ASSERT_EQ(second.size(), 40U);
  EXPECT_TRUE(std::equal(first.begin(), first.begin() + 16, second.begin()));
  EXPECT_FALSE(std::equal(first.begin() + 16, first.end(), second.begin() + 16));
  EXPECT_THAT(data->notes, testing::Contains(HasSubstr("1 of 3")));
}

TEST_F(TraceTest, broken_rows_are_named) {
  const auto error = [&](std::string_view row, const char* kind) {
    const auto data = load_dataset({.path = file("t.jsonl", row), .format = kind});
    return data ? std::string("no error") : data.error().message;
  };
  EXPECT_THAT(error(R"({"input_length": 0, "output_length": 1})", "mooncake"),
              HasSubstr(":1: input_length"));
  EXPECT_THAT(error(R"({"input_length": 9, "output_length": 1, "hash_ids": ["a"]})", "mooncake"),
              HasSubstr("hash_ids"));
  EXPECT_THAT(error(R"({"input_length": 9, "output_length": 1, "timestamp": -1})", "mooncake"),
              HasSubstr("timestamp"));
  EXPECT_THAT(error(R"({"input_length": 9, "output_length": 1, "block_size": 0})", "mooncake"),
              HasSubstr("block_size"));
  EXPECT_THAT(error(R"({"custom_id":"a","url":"/v1/embeddings","body":{}})", "openai_batch"),
              HasSubstr("neither chat completions"));
  EXPECT_THAT(error(R"({"prompt":"a"})", "openai_batch"), HasSubstr("custom_id"));
}

TEST_F(TraceTest, every_human_turn_is_asked_after_what_was_recorded) {
  const std::string path = file(
      "s.json",
      R"([{"id":"c1","conversations":[{"from":"system","value":"S"},{"from":"human","value":"a"},)"
      R"({"from":"gpt","value":"b"},{"from":"human","value":"c"},{"from":"gpt","value":"d"}]}])");
  const auto data = load_dataset({.path = path, .all_turns = true});
  ASSERT_TRUE(data);
  ASSERT_EQ(data->samples.size(), 2U);
  EXPECT_EQ(data->samples[0].messages.dump(),
            R"([{"role":"system","content":"S"},{"role":"user","content":"a"}])");
  EXPECT_EQ(data->samples[1].messages.dump(),
            R"([{"role":"system","content":"S"},{"role":"user","content":"a"},)"
            R"({"role":"assistant","content":"b"},{"role":"user","content":"c"}])");
  EXPECT_EQ(data->samples[1].session, "c1");
}

// A vocabulary of single bytes and two words: the number of tokens is exact for all words.
TEST(Exact, text_has_exactly_the_tokens_that_were_asked) {
  std::string ranks;
  for (int i = 0; i < 256; ++i) {
    ranks += format("{} {}\n", encode_base64(std::string(1, static_cast<char>(i))), i);
  }
  ranks += format("{} 256\n{} 257\n", encode_base64("th"), encode_base64("the"));
  const auto tokenizer = text::parse_tiktoken(ranks, "t.tiktoken", {.tiktoken_pattern = "gpt2"});
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  Rng rng(1);
  for (const std::int64_t wanted : {1, 2, 3, 17, 100, 1000}) {
    const auto text = exact_text(**tokenizer, "", wanted, rng);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ((*tokenizer)->count(*text).value(), static_cast<std::size_t>(wanted));
    const auto longer = exact_text(**tokenizer, *text, wanted + 50, rng);
    ASSERT_TRUE(longer) << longer.error().message;
    EXPECT_TRUE(longer->starts_with(*text));
    EXPECT_EQ((*tokenizer)->count(*longer).value(), static_cast<std::size_t>(wanted + 50));
  }
}

TEST(Prefixes, are_a_tree_and_shared_by_those_who_pass_it) {
  SyntheticSpec spec{.count = 64, .isl = LengthSpec::fixed(100), .token_ids = true};
  spec.prefixes = *parse_prefixes("40x2, 20x3");
  const auto data = make_synthetic(spec, "");
  ASSERT_TRUE(data);
  std::set<std::vector<std::int32_t>> first;
  std::set<std::vector<std::int32_t>> second;
  std::set<std::vector<std::int32_t>> whole;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const Sample sample = data->make_row(i);
    ASSERT_EQ(sample.input_tokens.size(), 100U);
    first.emplace(sample.input_tokens.begin(), sample.input_tokens.begin() + 40);
    second.emplace(sample.input_tokens.begin(), sample.input_tokens.begin() + 60);
    whole.insert(sample.input_tokens);
  }
  EXPECT_EQ(first.size(), 2U);
  EXPECT_EQ(second.size(), 6U);
  EXPECT_EQ(whole.size(), 64U);
  EXPECT_THAT(parse_prefixes("40x0").error().message, HasSubstr("1000x4"));
  EXPECT_THAT(parse_prefixes("x").error().message, HasSubstr("1000x4"));
}

}  // namespace
}  // namespace assay::dataset
