// Row axes: what divides the rows of a dataset into kinds, so that a run has figures for each
// value: the language that they are written in (a column `locale`, `language` or `lang`) and what
// they are made of (text, text and a picture, …). The number of characters of each prompt is kept
// too, so that tokens per character can be compared across languages: a tokenizer that needs three
// times the tokens for a language makes it three times as expensive and as slow.
//
// The axes are a fact of the run (RunInfo::facts, kAxesFact), so that the log alone gives the
// figures (metrics/axis_fold.h). Plain data; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/sample.h"

namespace assay {

inline constexpr std::string_view kAxesFact = "row_axes";
// A dataset's columns that name a row's language; kept with each row.
inline constexpr std::array<std::string_view, 3> kLanguageColumns = {"locale", "language", "lang"};
inline constexpr std::size_t kAxisValuesMax = 64;       // more: the column is no axis
inline constexpr std::size_t kAxisRowsMax = 1U << 18U;  // more: the run has no axes

struct RowAxis {
  std::string name{};                 // "locale", "modality"
  std::vector<std::string> values{};  // in order of their first row
  std::vector<std::uint8_t> rows{};   // an index into `values` for each row
};

struct RowAxes {
  std::vector<RowAxis> axes{};
  std::vector<std::uint32_t> characters{};  // of each row's prompt, as code points
};

// "text", "text+picture", …: what a message's content, a text or a list of parts, is made of.
std::string modality_of(const Json& content);
// Characters of a UTF-8 text, as code points.
std::uint32_t characters_in(std::string_view text);

// Empty for a dataset whose rows are all text and name no language, and for one that computes its
// rows.
RowAxes axes_of(const Dataset& dataset);

Json to_json(const RowAxes& axes);
// From a run's facts; empty for a run without axes.
Result<RowAxes> axes_from_facts(const Json& facts);

}  // namespace assay
