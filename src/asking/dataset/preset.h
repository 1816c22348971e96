// Preset: the reference client's change of a predefined dataset's rows before they are asked, by
// its names ("aime25::gptoss"). It makes prompts from columns, shuffles choices, and turns pictures
// into content parts. The wording is the benchmarks' own (Apache-2.0, mlcommons/endpoints and
// mlcommons/inference) and influences the measurement: tests pin it by its SHA-256.
//
// A row that already has a `prompt` is not changed. Rows must come in file order, since one
// generator shuffles all choices. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/python_random.h"
#include "base/result.h"

namespace assay::dataset {

class Preset {
 public:
  // Finds the preset in a dataset's name. nullopt if the dataset is not predefined or the name has
  // no preset; an unknown preset of a known dataset is an error.
  static Result<std::optional<Preset>> of(std::string_view name);
  // Makes a preset of a user's format: "{question}\nAnswer:" inserts columns; {{ and }} are braces.
  static Preset of_format(std::string text);

  // An error names the column.
  Result<void> apply(Json& row);

 private:
  enum class Kind : std::uint8_t { format, gpqa, shopify, shopify_loadgen, function_calling, none };
  Preset(Kind kind, std::string format) : kind_(kind), format_(std::move(format)) {}

  void shuffle_choices(Json& row);

  Kind kind_;
  std::string format_;
  PythonRandom random_{0};  // the reference's seed of choices
};

// Returns the system text of Qwen3-VL's benchmark, in the reference client's words or in LoadGen's.
std::string shopify_system(bool loadgen);

// Returns `text` with each {column} replaced by the row's value. Public for tests.
Result<std::string> fill_format(std::string_view text, const Json& row);

}  // namespace assay::dataset
