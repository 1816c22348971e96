#include "endpoint/answers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "endpoint/script.h"

namespace assay::endpoint {
namespace {

std::string joined(const Answer& answer) {
  std::string out;
  for (std::uint32_t i = 0; i < answer.tokens(); ++i) out += answer.word(i).text;
  return out;
}

TEST(Answer, its_tokens_are_its_text_and_its_json) {
  const Answer answer("It is \"four\".\n\tAnswer: B ");
  EXPECT_EQ(answer.tokens(), 6u);
  EXPECT_EQ(joined(answer), answer.text());
  EXPECT_EQ(answer.word(2).text, " \"four\".");
  EXPECT_EQ(answer.word(2).json, " \\\"four\\\".");
  EXPECT_EQ(answer.word(3).json, "\\n\\tAnswer:");
  EXPECT_EQ(answer.word(5).text, " ");
}

TEST(AnswerBook, the_longest_prompt_within_the_text_counts) {
  AnswerBook book;
  EXPECT_EQ(book.find("anything"), nullptr);
  book.add("What is two and two, and which of these?", "long");
  book.add("two", "short");
  book.add("two and two", "middle");
  const auto said = [&](std::string_view asked) {
    const Answer* const found = book.find(asked);
    return found == nullptr ? std::string("none") : found->text();
  };
  EXPECT_EQ(said("Please. What is two and two, and which of these? Answer:"), "long");
  EXPECT_EQ(said("What is two and two, and which of those?"), "middle");
  EXPECT_EQ(said("two"), "short");
  EXPECT_EQ(said("tw"), "none");
  EXPECT_EQ(said(""), "none");
  EXPECT_EQ(said("What is one and one?"), "none");
}

TEST(AnswerBook, finds_what_a_plain_search_finds) {
  Rng rng(7);
  const auto letters = [&](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i)
      out += static_cast<char>('a' + static_cast<int>(rng.below(3)));
    return out;
  };
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    AnswerBook book;
    std::vector<std::string> prompts;
    for (int i = 0; i < 8; ++i) {
      prompts.push_back(letters(1 + rng.below(40)));
      book.add(prompts.back(), prompts.back());
    }
    std::string asked = letters(rng.below(60));
    if (rng.below(2) == 0) asked += prompts[rng.below(prompts.size())] + letters(rng.below(5));
    std::size_t longest = 0;
    for (const std::string& prompt : prompts) {
      if (asked.find(prompt) != std::string::npos) longest = std::max(longest, prompt.size());
    }
    const Answer* const answer = book.find(asked);
    ASSERT_EQ(answer == nullptr ? 0 : answer->text().size(), longest) << asked;
    found += answer == nullptr ? 0 : 1;
  }
  EXPECT_GT(found, 100);
}

std::size_t size_of(const std::string& spec, std::uint64_t seed) {
  const auto book = read_answers(spec, seed);
  return book ? (*book)->size() : SIZE_MAX;
}

TEST(AnswerBook, is_read_from_a_dataset_and_says_what_is_wrong) {
  const TempFolder folder;
  const auto file = folder.path() / "q.jsonl";
  ASSERT_TRUE(write_file_atomic(file,
                                "{\"question\": \"One?\", \"reply\": \"yes\"}\n"
                                "{\"question\": \"Two?\", \"reply\": \"no\"}\n"));
  const auto book = read_answers(file.string() + ",prompt=question,answer=reply", 1);
  ASSERT_TRUE(book) << book.error().message;
  EXPECT_EQ((*book)->size(), 2u);
  EXPECT_EQ((*book)->find("Two?")->text(), "no");
  EXPECT_EQ(size_of(file.string() + ",answer=reply,right=0", 1), 0u);
  const auto error = [](const std::string& spec) {
    const auto read = read_answers(spec, 1);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_NE(error(file.string()).find("row 1: column 'answer' must be a text"), std::string::npos);
  EXPECT_NE(error(file.string() + ",wrong=1").find("wrong=1: expected prompt=COLUMN, "),
            std::string::npos);
  EXPECT_NE(error(file.string() + ",right=2").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(error("absent.jsonl").find("absent.jsonl"), std::string::npos);
}

TEST(AnswerBook, a_share_is_right_and_the_same_one_each_time) {
  const TempFolder folder;
  const auto file = folder.path() / "q.jsonl";
  std::string rows;
  for (int i = 0; i < 1000; ++i) {
    rows += "{\"prompt\": \"Question " + std::to_string(i) + "?\", \"answer\": \"a\"}\n";
  }
  ASSERT_TRUE(write_file_atomic(file, rows));
  const auto size = [&](std::string_view share, std::uint64_t seed) {
    return size_of(file.string() + ",right=" + std::string(share), seed);
  };
  EXPECT_NEAR(static_cast<double>(size("0.8", 1)), 800, 60);
  EXPECT_EQ(size("0.8", 1), size("0.8", 1));
  EXPECT_NE(size("0.8", 1), size("0.8", 2));
}

TEST(Script, an_answer_is_said_and_ends_the_reply) {
  auto book = std::make_shared<AnswerBook>();
  book->add("Which?", "It is B");
  EndpointOptions options;
  options.answers = book;
  Ask ask;
  ask.asked = "Which?";
  Script script = make_script(ask, options, 1);
  EXPECT_EQ(script.tokens, 3u);
  EXPECT_EQ(script.finish, FinishReason::stop);
  EXPECT_EQ(script.word_of(2).text, " B");
  ask.tokens_max = 2;
  EXPECT_EQ(make_script(ask, options, 1).finish, FinishReason::length);
  ask.tokens_max = 10;
  ask.ignore_eos = true;  // made-up words go on behind it
  EXPECT_EQ(make_script(ask, options, 1).tokens, 10u);
  ask = {};
  ask.asked = "Which?";
  options.reasoning = 0.5;
  script = make_script(ask, options, 1);
  EXPECT_EQ(script.tokens, 6u);
  EXPECT_EQ(script.reasoning_tokens, 3u);
  EXPECT_EQ(script.word_of(3).text, "It");
  ask.asked = "Who?";
  EXPECT_EQ(make_script(ask, options, 1).answer, nullptr);
}

TEST(Ask, its_last_text_is_kept_for_those_who_want_it) {
  const auto asked = [](Route route, std::string body, bool keeps) {
    AskReader reader(keeps);
    Ask ask;
    body.reserve(body.size() + kAskPadding);
    reader.read(route, body, ask);
    return ask.asked;
  };
  const std::string chat = R"({"messages": [{"role": "system", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "o\u006ee"}, {"type": "text",
     "text": " two"}]}]})";
  EXPECT_EQ(asked(Route::chat, chat, true), "one two");
  EXPECT_EQ(asked(Route::chat, chat, false), "");
  EXPECT_EQ(asked(Route::completions, R"({"prompt": "a \"b\""})", true), "a \"b\"");
  EXPECT_EQ(asked(Route::responses, R"({"input": "x", "instructions": "y"})", true), "x");
  EXPECT_EQ(asked(Route::messages,
                  R"({"max_tokens": 5.0, "messages": [{"role": "user", "content": "x"}],
                      "system": "y"})",
                  true),
            "x");
  EXPECT_EQ(asked(Route::ollama_generate, R"({"system": "y", "prompt": "x"})", true), "x");
  EXPECT_EQ(asked(Route::generate, R"({"text": "x"})", true), "x");
}

}  // namespace
}  // namespace assay::endpoint
