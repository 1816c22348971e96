// load_dataset: turns a file, or a recipe, into a Dataset (domain/sample.h): rows for queries.
//
// Formats: jsonl (read line by line, so a file of many GB needs only its samples' memory), json (an
// array of rows, or columns as pandas writes them), csv and tsv (RFC 4180), each of these also
// packed (.gz, .zst); parquet (parquet.h), Croissant (croissant.h: "croissant:FILE#record_set"),
// sharegpt (asks the first human turn, or every one), traces (trace.h: Mooncake, OpenAI batch,
// Azure LLM, BurstGPT), npy and npz (tensor_rows.h), dlrm_v3 (dlrm_data.h), synthetic. The format
// comes from `format`, else from the extension and the first row. `path` may be a folder of the
// Hugging Face hub, or "FOLDER#SPLIT" (data_files.h).
//
// A predefined dataset with a preset in its name ("aime25::gptoss") gets the reference client's
// prompts (preset.h).
//
// Columns: `parser` first renames source columns to ours (a missing source is an error that lists
// the columns of the file). Then, if no `prompt` exists, one of user_prompt, question, input,
// input_text, problem, query becomes it (two of them are an error), else text; Alpaca's instruction
// and input are joined by a blank line. system_prompt becomes `system`. Known columns: prompt
// (text, or a list of OpenAI content parts), system, messages, input_tokens (or token_ids), tools,
// tool_choice, max_new_tokens (or max_completion_tokens, max_tokens), session (or session_id,
// conversation_id). These go into the request body: name, n, stop, logit_bias, user, chat_template,
// chat_template_kwargs, those in `kind_columns`, and what `parser` names body.SOMETHING. Other
// columns are never sent. If a row has several questions, messages go before prompt; token ids go
// before both if `prefer_token_ids`, else after both.
//
// Errors name the file, the line and the column or field. Any thread; files are only read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/length.h"
#include "dataset/media.h"
#include "dataset/row_source.h"
#include "domain/sample.h"

namespace assay::dataset {

// One level of a tree of shared prefixes: each prompt begins with one of `branches` texts of
// `tokens` tokens, and the next level's begin below it.
struct PrefixLevel {
  std::int64_t tokens = 0;
  std::uint32_t branches = 1;
  bool operator==(const PrefixLevel&) const = default;
};
// Parses "1000x4,200x8": four prefixes of 1000 tokens; below each, eight of 200 tokens.
Result<std::vector<PrefixLevel>> parse_prefixes(std::string_view text);

// A class of a mix (mix.h): what of it differs from the dataset's own settings.
struct SyntheticClass {
  std::string name{};
  double share = 1;
  std::optional<LengthSpec> isl{};
  std::optional<LengthSpec> osl{};
  std::vector<PrefixLevel> prefixes{};
  std::vector<Medium> media{};
  Json overrides{};   // of the request's body, as an object; or null
  std::string slo{};  // "ttft<=500ms&tpot<=20ms"; "" for none
  // Queries a second by a law of its own (plan/class_arrivals.h); nullopt: a share of the run's.
  std::optional<double> rate{};
  std::string law{};
  // Or as many users in a closed loop, each of whom thinks that long before the next query.
  std::optional<std::uint32_t> concurrency{};
  Duration think{};
};

// Prompts made from a seed. As text: common English words, at an estimated 1.3 tokens a word (no
// tokenizer is used, so the samples' input_length is unknown, −1). As token ids: exactly as long as
// drawn.
struct SyntheticSpec {
  std::uint32_t count = 1000;
  LengthSpec isl = LengthSpec::fixed(256);
  // Each row's output limit; nullopt: the run's own.
  std::optional<LengthSpec> osl{};
  std::uint64_t seed = 42;
  bool token_ids = false;
  // Ids are drawn from [vocabulary_first, vocabulary_end). The default range is in every common
  // vocabulary and holds no special tokens.
  std::int32_t vocabulary_first = 1000;
  std::int32_t vocabulary_end = 30000;
  // Text prompts get exactly the number of tokens drawn, counted with this tokenizer (a path, as
  // text::load_tokenizer takes it), without a chat template. Empty: the estimate.
  std::string tokenizer{};
  // The isl includes shared prefixes; at least one token of each prompt is its own.
  std::vector<PrefixLevel> prefixes{};
  std::vector<SyntheticClass> classes{};  // a mix of them; empty: one kind of prompt
  // Columns that the kind of API takes as files: media of those names are sent so.
  std::vector<std::string> file_columns{};
};

struct Spec {
  std::string name{};    // empty: the file's stem
  std::string path{};    // empty: a predefined dataset by name, or synthetic
  std::string format{};  // "": by extension
  std::vector<std::pair<std::string, std::string>> parser{};  // our column ← the file's column
  std::uint64_t rows_max = 0;                                 // use only the first rows; 0: all
  bool prefer_token_ids = false;                              // for APIs whose prompt is token ids
  // Columns that the kind of API sends from its rows (ApiRow::columns): they go into the request
  // body under their own name, as `body.NAME` does. A text in one of the prompt's names stays the
  // prompt.
  std::span<const std::string_view> kind_columns{};
  bool columns_ask = false;  // one of them asks by itself, in place of a prompt
  // Template of the prompt, applied before any preset (preset.h): "{question}\nAnswer:".
  std::string prompt_format{};
  // Ask every human turn of a conversation with the recorded turns before it, not only the first
  // turn.
  bool all_turns = false;
  // Keep every unknown column in Sample::columns, for scorers.
  bool keep_columns = false;
  // Number of samples kept in memory; the rest is read, checked and counted (Dataset::not_kept). A
  // trace keeps all samples, to sort them by time. 0: all.
  std::uint64_t keep_max = 0;
  bool conversations = false;  // rows are turns to replay: conversations.h
  std::optional<SyntheticSpec> synthetic{};
  // If set: makes of each row, after `parser`, the row whose columns are read; called in the order
  // of the file, on the loader's thread. A preset and `prompt_format` come after it.
  std::function<Result<Json>(Json row)> make_row{};
};

Result<Dataset> load_dataset(const Spec& spec);

// Returns the rows of a Parquet file or a Croissant record set before any column is renamed. The
// other formats are text that a user can read.
Result<std::unique_ptr<RowSource>> open_rows(const Spec& spec);

}  // namespace assay::dataset
