// load_dataset: a file, or a recipe, becomes a Dataset (domain/sample.h): rows that queries are
// made from.
//
// Formats: jsonl (read line by line, so a file of many GB costs what its samples cost), json (an
// array of rows, or columns as pandas writes them), csv (RFC 4180), parquet (parquet.h), Croissant
// (croissant.h: "croissant:FILE#record_set"), sharegpt (the first human turn is the prompt, or
// every one), Mooncake and OpenAI batch traces (trace.h), synthetic. The format comes from
// `format`, else from the extension and the first row.
//
// A dataset whose name is a predefined one with a preset ("aime25::gptoss") has its rows put
// together as the reference client does (preset.h).
//
// Columns: `parser` renames source columns to ours first (a missing source is an error that lists
// what there is); then, where no `prompt` exists, one of user_prompt, question, input, input_text,
// problem, query is taken for it (two of them are an error), and system_prompt for `system`. What
// is understood: prompt (text, or a list of OpenAI content parts), system, messages, input_tokens
// (or token_ids), tools, tool_choice, max_new_tokens (or max_completion_tokens, max_tokens),
// session (or session_id, conversation_id); name, n, stop, logit_bias, user, chat_template and
// chat_template_kwargs go into the request body, and so does what `parser` names body.SOMETHING.
// Other columns are never sent. Where a row has several questions: messages before prompt, and
// token ids before either if `prefer_token_ids`, else after both.
//
// Errors name the file, the line and the column or field. Any thread; files are only read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "dataset/length.h"
#include "dataset/row_source.h"
#include "domain/sample.h"

namespace assay::dataset {

// Prompts made from a seed. As text: common English words, sized by the estimate that one word is
// 1.3 tokens (no tokenizer is asked, so the samples' input_length is unknown, −1). As token ids:
// exactly as long as drawn.
// One level of a tree of shared prefixes: each prompt begins with one of `branches` texts of
// `tokens` tokens, and the next level's begin below it.
struct PrefixLevel {
  std::int64_t tokens = 0;
  std::uint32_t branches = 1;
  bool operator==(const PrefixLevel&) const = default;
};
// "1000x4,200x8": a thousand tokens, four of them, below each eight of two hundred.
Result<std::vector<PrefixLevel>> parse_prefixes(std::string_view text);

struct SyntheticSpec {
  std::uint32_t count = 1000;
  LengthSpec isl = LengthSpec::fixed(256);
  // Each row's output limit; nullopt: the run's own.
  std::optional<LengthSpec> osl{};
  std::uint64_t seed = 42;
  bool token_ids = false;
  // Ids are drawn from [vocabulary_first, vocabulary_end): by default a range that every common
  // vocabulary has and that holds no special tokens.
  std::int32_t vocabulary_first = 1000;
  std::int32_t vocabulary_end = 30000;
  // Text prompts get exactly as many tokens as drawn, counted with this tokenizer (a path, as
  // text::load_tokenizer takes it), without a chat template. Empty: the estimate.
  std::string tokenizer{};
  // The isl counts what is shared too; at least one token of each prompt is its own.
  std::vector<PrefixLevel> prefixes{};
};

struct Spec {
  std::string name{};    // empty: the file's stem
  std::string path{};    // empty: a predefined dataset by name, or synthetic
  std::string format{};  // "": by extension
  std::vector<std::pair<std::string, std::string>> parser{};  // our column ← the file's column
  std::uint64_t rows_max = 0;                                 // use only the first rows; 0: all
  bool prefer_token_ids = false;                              // for APIs whose prompt is token ids
  // "{question}\nAnswer:": what the prompt is put together from, before any preset (preset.h).
  std::string prompt_format{};
  // Of a conversation, ask every human turn with the recorded turns before it, and not only the
  // first.
  bool all_turns = false;
  // Keep every column that was not understood in Sample::columns, for scorers.
  bool keep_columns = false;
  // Only so many samples are kept, and memory is theirs; the rest is read, checked and counted
  // (Dataset::not_kept). A trace's are all kept, to be put in order of time. 0: all.
  std::uint64_t keep_max = 0;
  bool conversations = false;  // rows are turns to replay: conversations.h
  std::optional<SyntheticSpec> synthetic{};
};

Result<Dataset> load_dataset(const Spec& spec);

// The rows of a Parquet file or a Croissant record set as they stand, before any column is
// understood. Other formats can be read by eye.
Result<std::unique_ptr<RowSource>> open_rows(const Spec& spec);

}  // namespace assay::dataset
