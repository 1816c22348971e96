// Preset: what the reference client does to a predefined dataset's rows before they are asked, by
// its names ("aime25::gptoss"): prompts are put together from columns, choices shuffled, pictures
// made content parts. The wording is the benchmarks' own (Apache-2.0, mlcommons/endpoints and
// mlcommons/inference) and part of what is measured: tests pin it by its SHA-256.
//
// A row that has its `prompt` already is left as it is. Rows must come in file order, since choices
// are shuffled by one generator. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/python_random.h"
#include "base/result.h"

namespace assay::dataset {

class Preset {
 public:
  // By a dataset's name. nullopt where it is no predefined one or names no preset; an unknown
  // preset of a known dataset is an error.
  static Result<std::optional<Preset>> of(std::string_view name);
  // A format of one's own: "{question}\nAnswer:" fills columns in; {{ and }} are braces.
  static Preset of_format(std::string text);

  // The error names the column.
  Result<void> apply(Json& row);

 private:
  enum class Kind : std::uint8_t { format, gpqa, shopify, shopify_loadgen, function_calling, none };
  Preset(Kind kind, std::string format) : kind_(kind), format_(std::move(format)) {}

  void shuffle_choices(Json& row);

  Kind kind_;
  std::string format_;
  PythonRandom random_{0};  // the reference's seed of choices
};

// The system text of Qwen3-VL's benchmark, in the reference client's words or in LoadGen's.
std::string shopify_system(bool loadgen);

// `text` with each {column} replaced by the row's. Public for tests.
Result<std::string> fill_format(std::string_view text, const Json& row);

}  // namespace assay::dataset
