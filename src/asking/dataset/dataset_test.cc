#include "dataset/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "dataset/json_rows.h"
#include "dataset/sharegpt.h"
#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

class DatasetTest : public testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view text) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    EXPECT_TRUE(write_file_atomic(path, text));
    return path.string();
  }
  std::string error_of(const Spec& spec) {
    const auto dataset = load_dataset(spec);
    return dataset ? "no error" : dataset.error().message;
  }
  std::string error_in(std::string_view name, std::string_view text) {
    return error_of({.path = file(name, text)});
  }

  std::string folder_ = testing::TempDir() + "/assay_dataset_" +
                        testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(DatasetTest, json_lines_become_samples) {
  const std::string text =
      "{\"prompt\": \"one\", \"system\": \"be brief\", \"max_tokens\": 5}\n\n"
      "{\"messages\": [{\"role\": \"user\", \"content\": \"two\"}], \"tools\": [{\"a\": 1}],"
      " \"tool_choice\": \"auto\", \"stop\": [\"x\"], \"session_id\": \"s1\"}\r\n"
      "{\"prompt\": [{\"type\": \"text\", \"text\": \"three\"}], \"n\": 2, \"other\": 1}";
  const auto dataset = load_dataset({.path = file("rows.jsonl", text)});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->name, "rows");
  EXPECT_EQ(dataset->sha256, sha256_hex(text));
  ASSERT_EQ(dataset->samples.size(), 3U);
  const Sample& one = dataset->samples[0];
  EXPECT_EQ(one.prompt, "one");
  EXPECT_EQ(one.system, "be brief");
  EXPECT_EQ(one.output_tokens_max, 5);
  EXPECT_EQ(one.input_length, -1);
  const Sample& two = dataset->samples[1];
  EXPECT_EQ(two.messages.dump(), R"([{"role":"user","content":"two"}])");
  EXPECT_EQ(two.tools.dump(), R"([{"a":1}])");
  EXPECT_EQ(two.tool_choice.as_string(), "auto");
  EXPECT_EQ(two.body.dump(), R"({"stop":["x"]})");
  EXPECT_EQ(two.session, "s1");
  const Sample& three = dataset->samples[2];
  EXPECT_EQ(three.content_parts.dump(), R"([{"type":"text","text":"three"}])");
  EXPECT_EQ(three.body.dump(), R"({"n":2})");
  EXPECT_TRUE(three.columns.is_null());
}

TEST_F(DatasetTest, the_same_rows_in_every_format_are_the_same_samples) {
  const auto lines = load_dataset({.path = file("a.jsonl",
                                                "{\"prompt\":\"x, \\\"y\\\"\",\"system\":"
                                                "\"s\"}\n{\"prompt\":\"z\"}\n")});
  const std::vector<std::string> files{
      file("a.json", R"([{"prompt":"x, \"y\"","system":"s"}, {"prompt":"z","system":null}])"),
      file("b.json", R"({"prompt":["x, \"y\"","z"],"system":["s",null]})"),
      file("c.json", R"({"prompt":{"0":"x, \"y\"","1":"z"},"system":{"0":"s","1":null}})"),
      file("a.csv", "prompt,system\n\"x, \"\"y\"\"\",s\nz,\n")};
  ASSERT_TRUE(lines);
  for (const std::string& path : files) {
    const auto dataset = load_dataset({.path = path});
    ASSERT_TRUE(dataset) << dataset.error().message;
    ASSERT_EQ(dataset->samples.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(dataset->samples[i].prompt, lines->samples[i].prompt) << path;
      EXPECT_EQ(dataset->samples[i].system, lines->samples[i].system) << path;
    }
  }
}

TEST_F(DatasetTest, structures_in_csv_cells_are_json) {
  const auto dataset = load_dataset(
      {.path = file("a.csv",
                    "messages,tools,n,max_tokens\n"
                    "\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"hi\"\"}]\",[],3,7\n")});
  ASSERT_TRUE(dataset) << dataset.error().message;
  const Sample& sample = dataset->samples[0];
  EXPECT_EQ(sample.messages[0]["content"].as_string(), "hi");
  EXPECT_TRUE(sample.tools.is_array());
  EXPECT_EQ(sample.body.dump(), R"({"n":3})");
  EXPECT_EQ(sample.output_tokens_max, 7);
}

TEST_F(DatasetTest, the_parser_renames_columns) {
  const std::string path =
      file("a.jsonl", R"({"article": "text", "prompt": "not this", "id": 4, "effort": "high"})");
  const auto dataset = load_dataset({.path = path,
                                     .parser = {{"prompt", "article"}, {"body.effort", "effort"}},
                                     .keep_columns = true});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->samples[0].prompt, "text");
  EXPECT_EQ(dataset->samples[0].body.dump(), R"({"effort":"high"})");
  EXPECT_EQ(dataset->samples[0].columns.dump(), R"({"id":4})");
  const auto swapped = load_dataset({.path = file("b.jsonl", R"({"prompt": "p", "system": "s"})"),
                                     .parser = {{"prompt", "system"}, {"system", "prompt"}}});
  ASSERT_TRUE(swapped);
  EXPECT_EQ(swapped->samples[0].prompt, "s");
  EXPECT_EQ(swapped->samples[0].system, "p");
  EXPECT_THAT(error_of({.path = path, .parser = {{"prompt", "article"}, {"system", "nowhere"}}}),
              HasSubstr("parser.system: there is no column 'nowhere'; the first row has: article, "
                        "prompt, id, effort"));
  // The reference client's examples name a column that only the preset makes.
  const auto preset = load_dataset({.name = "cnn_dailymail::llama3_8b",
                                    .path = file("c.jsonl", R"({"article": "a"})"),
                                    .parser = {{"input", "prompt"}}});
  ASSERT_TRUE(preset) << preset.error().message;
  EXPECT_THAT(preset->samples[0].prompt, HasSubstr("a"));
}

TEST_F(DatasetTest, what_is_mapped_to_an_unknown_name_is_never_sent) {
  const auto dataset =
      load_dataset({.path = file("a.jsonl", R"({"prompt": "p", "solution": "42"})"),
                    .parser = {{"ground_truth", "solution"}},
                    .keep_columns = true});
  ASSERT_TRUE(dataset);
  EXPECT_TRUE(dataset->samples[0].body.is_null());
  EXPECT_EQ(dataset->samples[0].columns.dump(), R"({"ground_truth":"42"})");
}

TEST_F(DatasetTest, a_likely_column_is_taken_for_the_prompt) {
  for (const char* name : {"user_prompt", "question", "input", "input_text", "problem", "query"}) {
    const auto dataset = load_dataset(
        {.path = file("a.jsonl", format(R"({{"{}": "q", "system_prompt": "s", "id": 1}})", name))});
    ASSERT_TRUE(dataset) << name;
    EXPECT_EQ(dataset->samples[0].prompt, "q");
    EXPECT_EQ(dataset->samples[0].system, "s");
  }
  EXPECT_THAT(error_in("b.jsonl", R"({"question": "q", "input": "i"})"),
              HasSubstr("b.jsonl:1: both 'question' and 'input' could be the prompt"));
}

TEST_F(DatasetTest, a_kinds_own_columns_go_into_its_request) {
  constexpr std::array<std::string_view, 3> kColumns{"input", "dimensions", "size"};
  const std::string list = file("a.jsonl", R"({"input": ["a", "b"], "dimensions": 8, "id": 1})");
  const auto several = load_dataset({.path = list, .kind_columns = kColumns});
  ASSERT_TRUE(several) << several.error().message;
  EXPECT_EQ(several->samples[0].body.dump(), R"({"input":["a","b"],"dimensions":8})");
  EXPECT_TRUE(several->samples[0].content_parts.is_null());
  const std::string beside = file("b.jsonl", R"({"prompt": "p", "input": ["a"], "size": "1x1"})");
  EXPECT_EQ(load_dataset({.path = beside, .kind_columns = kColumns})->samples[0].body.dump(),
            R"({"input":["a"],"size":"1x1"})");
  // For another kind they are unknown columns.
  EXPECT_TRUE(load_dataset({.path = beside})->samples[0].body.is_null());
  // A text in `input` is the prompt, as for every kind.
  const auto text = load_dataset(
      {.path = file("c.jsonl", R"({"input": "[q]", "size": "s"})"), .kind_columns = kColumns});
  ASSERT_TRUE(text);
  EXPECT_EQ(text->samples[0].prompt, "[q]");
  EXPECT_EQ(text->samples[0].body.dump(), R"({"size":"s"})");
}

TEST_F(DatasetTest, a_kinds_own_columns_may_stand_in_cells_of_text) {
  constexpr std::array<std::string_view, 3> kColumns{"input", "dimensions", "size"};
  const auto cells = load_dataset(
      {.path = file("a.csv", "input,dimensions,size\n\"[\"\"a\"\",\"\"b\"\"]\",8,1x1\n"),
       .kind_columns = kColumns});
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->samples[0].body.dump(), R"({"input":["a","b"],"dimensions":8,"size":"1x1"})");
}

TEST_F(DatasetTest, a_row_of_inputs_alone_asks_something_where_its_kind_takes_them) {
  constexpr std::array<std::string_view, 1> kColumns{"input"};
  const std::string path = file("a.jsonl", R"({"body.input": ["a", "b"]})");
  EXPECT_TRUE(load_dataset({.path = path, .kind_columns = kColumns}));
  EXPECT_FALSE(load_dataset({.path = path}));
}

TEST_F(DatasetTest, token_ids_are_used_where_the_api_takes_them) {
  const std::string path = file("a.jsonl", R"({"prompt": "text", "input_tokens": [1, 2, 3]})");
  const auto text = load_dataset({.path = path});
  const auto ids = load_dataset({.path = path, .prefer_token_ids = true});
  ASSERT_TRUE(text && ids);
  EXPECT_EQ(text->samples[0].prompt, "text");
  EXPECT_TRUE(text->samples[0].input_tokens.empty());
  EXPECT_EQ(ids->samples[0].prompt, "");
  EXPECT_EQ(ids->samples[0].input_tokens, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(ids->samples[0].input_length, 3);
}

TEST_F(DatasetTest, errors_name_the_file_the_line_and_the_column) {
  struct Case {
    const char* name;
    const char* text;
    const char* error;
  };
  for (const Case& c : {
           Case{"a.jsonl", "{\"prompt\":\"x\"}\n\n{\"prompt\": }\n", "a.jsonl:3: not valid JSON"},
           Case{"a.jsonl", "{\"prompt\":\"x\"}\n[1]\n", "a.jsonl:2: expected a row such as"},
           Case{"a.jsonl", "{\"prompt\":\"\xFF\"}\n", "a.jsonl:1: bytes that are not UTF-8"},
           Case{"a.jsonl", "{\"texts\":\"x\"}", "a.jsonl:1: this row asks nothing"},
           Case{"a.jsonl", "{\"prompt\":{\"a\":1}}", "a.jsonl:1: prompt: expected text"},
           Case{"a.jsonl", "{\"messages\":[1]}", "a.jsonl:1: messages: message 0"},
           Case{"a.jsonl", "{\"input_tokens\":[1,-2]}",
                "input_tokens: element 1 is not a token id"},
           Case{"a.jsonl", "{\"prompt\":\"x\",\"max_tokens\":0}",
                "a.jsonl:1: max_tokens: expected"},
           Case{"a.jsonl", "{\"prompt\":\"x\",\"tools\":{}}", "a.jsonl:1: tools: expected a list"},
           Case{"a.jsonl", "\n\n", "has no rows"},
           Case{"a.json", "[{\"prompt\":\"x\"},\n{\"prompt\":\"y\"",
                "a.json:2: the array is not closed"},
           Case{"a.json", "[{\"prompt\":\"x\"},\n\n{\"p\":}]", "a.json:3: not valid JSON"},
           Case{"a.json", "[1,]", "a.json:1: expected a row"},
           Case{"a.json", "[{\"prompt\":\"x\"},]", "a.json:1: an element is missing before ']'"},
           Case{"a.json", "[]x", "a.json:1: text after the array's end"},
           Case{"a.json", "{\"prompt\":\"x\"}\n{\"prompt\":\"y\"}", "name the file .jsonl"},
           Case{"a.json", "{\"a\":[1],\"b\":[1,2]}", "column 'b' has 2 rows"},
           Case{"a.csv", "", "is empty; its first line must name the columns"},
           Case{"a.csv", "prompt,prompt\n", "a.csv:1: two columns are called 'prompt'"},
           Case{"a.csv", "prompt\nx\n\ny,z\n", "a.csv:4: 2 fields, where the header names 1"},
           Case{"a.csv", "prompt,n\nx,[\n", "a.csv:2: n: expected JSON in this cell"},
           Case{"a.csv", "prompt\n\"x", "a.csv:2:1: this quote is never closed"},
           Case{"a.txt", "x", "its name does not say what it is"},
       }) {
    EXPECT_THAT(error_in(c.name, c.text), HasSubstr(c.error)) << c.text;
  }
  const auto missing = load_dataset({.path = folder_ + "/nothing.jsonl"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
}

TEST_F(DatasetTest, what_is_not_supported_says_where_to_get_it) {
  const auto folder = load_dataset({.path = file("a.x", "PAR1"), .format = "huggingface"});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::not_found);
  EXPECT_THAT(folder.error().message, HasSubstr("no such folder"));
  for (const Spec& spec : {Spec{.name = "aime25::gptoss"}, Spec{.path = "aime25::gptoss"}}) {
    const auto named = load_dataset(spec);
    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, Code::unsupported);
    EXPECT_THAT(named.error().message, HasSubstr("opencompass/AIME2025"));
  }
  const auto unknown = load_dataset({.name = "aime26"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::invalid);
}

TEST_F(DatasetTest, a_format_given_goes_before_the_extension) {
  const auto dataset =
      load_dataset({.path = file("a.txt", "{\"prompt\":\"x\"}"), .format = ".JSONL"});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_THAT(error_of({.path = file("a.txt", "x"), .format = "jsnl"}),
              HasSubstr("did you mean 'jsonl'"));
}

TEST_F(DatasetTest, rows_max_takes_the_first_rows_and_still_hashes_the_file) {
  const std::string text = "{\"prompt\":\"1\"}\n{\"prompt\":\"2\"}\nnot JSON\n";
  const auto dataset = load_dataset({.path = file("a.jsonl", text), .rows_max = 2});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->samples.size(), 2U);
  EXPECT_EQ(dataset->sha256, sha256_hex(text));
}

TEST_F(DatasetTest, sharegpt_asks_the_first_human_turn) {
  const std::string text = R"([
    {"id": "a", "conversations": [{"from": "system", "value": "S"},
      {"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]},
    {"id": "b", "conversations": [{"from": "gpt", "value": "only me"}]},
    {"id": 7, "conversations": [{"role": "user", "content": "Q2"},
      {"role": "assistant", "content": "A2"}, {"role": "user", "content": "Q3"}]}])";
  const std::string path = file("chat.json", text);
  for (const char* given : {"", "sharegpt"}) {
    const auto dataset = load_dataset({.path = path, .format = given});
    ASSERT_TRUE(dataset) << dataset.error().message;
    ASSERT_EQ(dataset->samples.size(), 2U);
    EXPECT_EQ(dataset->samples[0].prompt, "Q");
    EXPECT_EQ(dataset->samples[0].system, "S");
    EXPECT_EQ(dataset->samples[0].session, "a");
    EXPECT_EQ(dataset->samples[1].prompt, "Q2");
    EXPECT_THAT(dataset->notes, testing::Contains(HasSubstr("1 of 3 conversations")));
  }
  const auto last = parse_conversation(Json::parse(text).value()[2]);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last->turns.size(), 3U);
  EXPECT_EQ(last->turns[1].role, "assistant");
  EXPECT_EQ(last->id, "7");
}

TEST_F(DatasetTest, a_row_of_many_megabytes_is_read) {
  const std::string big(20'000'000, 'x');
  const auto dataset =
      load_dataset({.path = file("a.jsonl", "{\"prompt\":\"" + big + "\"}\n{\"prompt\":\"y\"}\n")});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->samples[0].prompt.size(), big.size());
  EXPECT_EQ(dataset->samples.size(), 2U);
}

TEST_F(DatasetTest, what_is_not_wanted_is_checked_and_counted_and_not_kept) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += format("{{\"prompt\": \"p{}\"}}\n", i);
  const std::string path = file("rows.jsonl", text);
  const auto first = load_dataset({.path = path, .keep_max = 3});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->samples.size(), 3U);
  EXPECT_EQ(first->samples[2].prompt, "p2");
  EXPECT_EQ(first->not_kept, 17U);
  EXPECT_EQ(first->sha256, sha256_hex(text));
  // An error counts at any place of the file.
  EXPECT_THAT(error_of({.path = file("bad.jsonl", text + "{]"), .keep_max = 3}), HasSubstr(":21:"));
}

TEST(JsonRows, the_same_rows_however_the_file_is_cut) {
  const std::string lines = "\xEF\xBB\xBF{\"a\":1}\n\n  {\"b\":\"\\n\"}\r\n3";
  const std::string array = " [ {\"a\":\"],[\\\"\"},\n[1,[2]], \"x\" ,4\n] \n";
  for (const std::size_t step : {1U, 2U, 3U, 4U, 5U, 1000U}) {
    LineReader line_reader(Chunks::of(lines, step));
    std::vector<std::string> rows;
    for (auto row = line_reader.next(); row && *row; row = line_reader.next()) {
      rows.push_back(format("{}:{}", line_reader.line(), **row));
    }
    EXPECT_EQ(rows, (std::vector<std::string>{"1:{\"a\":1}", "3:{\"b\":\"\\n\"}", "4:3"}));
    ElementReader elements(Chunks::of(array, step));
    rows.clear();
    for (auto row = elements.next(); row && *row; row = elements.next()) {
      rows.push_back(format("{}:{}", elements.line(), **row));
    }
    EXPECT_EQ(rows,
              (std::vector<std::string>{"1:{\"a\":\"],[\\\"\"}", "2:[1,[2]]", "2:\"x\"", "2:4"}));
  }
}

TEST(Synthetic, the_same_seed_gives_the_same_prompts_and_fewer_are_a_prefix) {
  const SyntheticSpec spec{.count = 20,
                           .isl = *parse_length("uniform:10-50"),
                           .osl = *parse_length("normal:100,10"),
                           .seed = 7};
  SyntheticSpec fewer = spec;
  fewer.count = 5;
  SyntheticSpec other = spec;
  other.seed = 8;
  const auto a = make_synthetic(spec, "");
  const auto b = make_synthetic(fewer, "");
  const auto c = make_synthetic(other, "");
  ASSERT_TRUE(a && b && c);
  std::set<std::string> distinct;
  for (std::uint32_t i = 0; i < 20; ++i) distinct.insert(a->make_row(i).prompt);
  EXPECT_EQ(distinct.size(), 20U);
  for (const std::uint32_t i : {4U, 2U, 0U, 3U, 1U}) {
    const Sample one = a->make_row(i);
    EXPECT_EQ(one.prompt, b->make_row(i).prompt);
    EXPECT_EQ(one.output_tokens_max, b->make_row(i).output_tokens_max);
    EXPECT_NE(one.prompt, c->make_row(i).prompt);
    EXPECT_EQ(one.input_length, -1);
    EXPECT_GT(one.output_tokens_max, 0);
  }
}

// A simulation draws the same lengths.
TEST(Synthetic, the_first_lengths_come_from_one_source_and_the_others_from_their_row) {
  const SyntheticSpec spec{.count = 20'100,
                           .isl = *parse_length("uniform:10-50"),
                           .osl = *parse_length("normal:100,10"),
                           .seed = 7,
                           .token_ids = true};
  const auto dataset = make_synthetic(spec, "");
  ASSERT_TRUE(dataset);
  Rng inputs(7);
  Rng outputs(8);
  std::set<std::int64_t> lengths;
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    const Sample sample = dataset->make_row(i);
    if (i < 20'000) {
      ASSERT_EQ(sample.input_length, draw_length(spec.isl, inputs)) << i;
      ASSERT_EQ(sample.output_tokens_max, draw_length(*spec.osl, outputs)) << i;
    } else {
      lengths.insert(sample.input_length);
      EXPECT_GE(sample.input_length, 10);
      EXPECT_LE(sample.input_length, 50);
    }
  }
  EXPECT_GT(lengths.size(), 20U);
}

TEST(Synthetic, token_ids_are_exactly_as_long_as_asked) {
  const auto dataset =
      make_synthetic({.count = 50, .isl = LengthSpec::fixed(33), .token_ids = true}, "ids");
  ASSERT_TRUE(dataset);
  ASSERT_EQ(dataset->rows(), 50U);
  for (std::uint32_t i = 0; i < 50; ++i) {
    const Sample sample = dataset->make_row(i);
    EXPECT_EQ(sample.input_tokens.size(), 33U);
    EXPECT_EQ(sample.input_length, 33);
    EXPECT_EQ(sample.output_tokens_max, 0);
    for (const std::int32_t id : sample.input_tokens) {
      EXPECT_GE(id, 1000);
      EXPECT_LT(id, 30000);
    }
  }
}

TEST(Synthetic, text_has_the_words_that_the_estimate_asks_for) {
  Rng rng(1);
  const std::string text = synthetic_text(1300, rng);
  EXPECT_EQ(std::count(text.begin(), text.end(), ' ') + 1, 1000);
  EXPECT_EQ(text.back(), '.');
  EXPECT_FALSE(synthetic_text(1, rng).empty());
}

TEST(Synthetic, four_thousand_million_prompts_cost_nothing_until_they_are_asked_for) {
  const auto dataset = make_synthetic({.count = 4'000'000'000, .isl = LengthSpec::fixed(40)}, "");
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->rows(), 4'000'000'000U);
  EXPECT_TRUE(dataset->samples.empty());
  Sample room;
  const std::string last = dataset->row(3'999'999'999, room).prompt;
  EXPECT_FALSE(last.empty());
  EXPECT_NE(last, dataset->row(3'999'999'998, room).prompt);
  EXPECT_FALSE(make_synthetic({.count = 0}, ""));
}

TEST(Synthetic, the_generator_makes_these_prompts_for_ever) {
  SyntheticSpec spec{.count = 3, .isl = LengthSpec::fixed(12), .seed = 42};
  EXPECT_EQ(make_synthetic(spec, "")->make_row(1).prompt,
            "Up. Here her. She they an good years can.");
  spec.prefixes = *parse_prefixes("4x2");
  EXPECT_EQ(make_synthetic(spec, "")->make_row(1).prompt,
            "Know be she. Up. Here her. She they an.");
  spec.token_ids = true;
  EXPECT_EQ(make_synthetic(spec, "")->make_row(1).input_tokens,
            (std::vector<std::int32_t>{25295, 23104, 5217, 9456, 10965, 27568, 7572, 15115, 1659,
                                       29280, 10409, 14658}));
  EXPECT_EQ(make_synthetic(spec, "")->recipe,
            "synthetic 2: seed 42, isl 12, prefix 4x2, ids 1000 to 30000");
}

}  // namespace
}  // namespace assay::dataset
