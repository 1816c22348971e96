#include "domain/row_axes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"

namespace assay {
namespace {

constexpr std::size_t kValueBytesMax = 64;

// Calls `of_part` with the kind and the text of each part of a content.
template <typename OfPart>
void each_part(const Json& content, OfPart&& of_part) {
  if (content.is_string()) of_part("text", content.as_string());
  for (const Json& part : content.items()) {
    const std::string_view type = part["type"].as_string("text");
    of_part(type == "image_url" ? "picture" : type, part["text"].as_string());
  }
}

template <typename OfPart>
void each_part(const Sample& sample, OfPart&& of_part) {
  if (!sample.prompt.empty() || !sample.input_tokens.empty()) of_part("text", sample.prompt);
  if (!sample.system.empty()) of_part("text", sample.system);
  each_part(sample.content_parts, of_part);
  for (std::size_t i = 0; i < sample.messages.size(); ++i) {
    each_part(sample.messages[i]["content"], of_part);
  }
  for (const Attachment& one : sample.attachments) {
    // A media type's first half; a tensor has a datatype.
    const std::string_view type = one.type;
    const std::size_t at = type.find('/');
    of_part(at == std::string_view::npos ? "tensor" : type.substr(0, at), std::string_view());
  }
}

// "text", "text+picture": the kinds of what has parts.
template <typename Parts>
std::string kinds_of(const Parts& parts) {
  std::set<std::string, std::less<>> kinds;
  each_part(parts, [&kinds](std::string_view kind, std::string_view) { kinds.emplace(kind); });
  std::string out = kinds.erase("text") > 0 ? "text" : "";
  for (const std::string& kind : kinds) out += (out.empty() ? "" : "+") + kind;
  return out;
}

std::string language_of(const Sample& sample, std::string_view column) {
  const Json& value = sample.columns[column];
  std::string out(value.as_string().substr(0, kValueBytesMax));
  return out.empty() ? "not stated" : out;
}

// False where the axis has more values than a table can show.
bool add_value(RowAxis& axis, const std::string& value) {
  const auto found = std::ranges::find(axis.values, value);
  if (found == axis.values.end() && axis.values.size() == kAxisValuesMax) return false;
  axis.rows.push_back(static_cast<std::uint8_t>(found - axis.values.begin()));
  if (found == axis.values.end()) axis.values.push_back(value);
  return true;
}

Error corrupt(std::string_view what) {
  return Error{Code::corrupt, format("the run's row axes: {}", what)};
}

}  // namespace

std::uint32_t characters_in(std::string_view text) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string modality_of(const Json& content) { return kinds_of(content); }

RowAxes axes_of(const Dataset& dataset) {
  RowAxes out;
  if (dataset.make_row || dataset.samples.size() > kAxisRowsMax) return out;
  RowAxis modality{.name = "modality"};
  bool shown = true;
  for (const Sample& sample : dataset.samples) {
    shown = shown && add_value(modality, kinds_of(sample));
  }
  for (const std::string_view column : kLanguageColumns) {
    const auto has = [column](const Sample& one) { return one.columns[column].is_string(); };
    if (std::ranges::none_of(dataset.samples, has)) continue;
    RowAxis language{.name = std::string(column)};
    const bool few = std::ranges::all_of(dataset.samples, [&](const Sample& sample) {
      return add_value(language, language_of(sample, column));
    });
    if (few) out.axes.push_back(std::move(language));
  }
  const bool plain = modality.values.size() == 1 && modality.values[0] == "text";
  if (shown && !modality.values.empty() && !(plain && out.axes.empty())) {
    out.axes.push_back(std::move(modality));
  }
  if (out.axes.empty()) return out;  // then no text is read
  for (const Sample& sample : dataset.samples) {
    std::uint32_t& characters = out.characters.emplace_back();
    each_part(sample, [&characters](std::string_view, std::string_view text) {
      characters += characters_in(text);
    });
  }
  return out;
}

Json to_json(const RowAxes& axes) {
  Json list = Json::array();
  for (const RowAxis& axis : axes.axes) {
    Json rows = Json::array();
    for (const std::uint8_t row : axis.rows) rows.push_back(std::uint64_t{row});
    list.push_back(Json()
                       .set("axis", axis.name)
                       .set("values", json_list(axis.values))
                       .set("rows", std::move(rows)));
  }
  Json characters = Json::array();
  for (const std::uint32_t one : axes.characters) characters.push_back(std::uint64_t{one});
  return Json().set("axes", std::move(list)).set("characters", std::move(characters));
}

Result<RowAxes> axes_from_facts(const Json& facts) {
  RowAxes out;
  const Json& fact = facts[kAxesFact];
  for (const Json& one : fact["characters"].items()) {
    out.characters.push_back(static_cast<std::uint32_t>(one.as_uint()));
  }
  for (const Json& one : fact["axes"].items()) {
    RowAxis axis{.name = std::string(one["axis"].as_string())};
    for (const Json& value : one["values"].items()) axis.values.emplace_back(value.as_string());
    if (axis.name.empty() || axis.values.empty() || axis.values.size() > kAxisValuesMax) {
      return corrupt("an axis has no name, no values, or too many");
    }
    for (const Json& row : one["rows"].items()) {
      if (row.as_uint(kAxisValuesMax) >= axis.values.size()) return corrupt("a row has no value");
      axis.rows.push_back(static_cast<std::uint8_t>(row.as_uint()));
    }
    if (axis.rows.size() != out.characters.size()) return corrupt("its lists differ in length");
    out.axes.push_back(std::move(axis));
    if (out.axes.size() > kLanguageColumns.size() + 1) return corrupt("too many axes");
  }
  return out;
}

}  // namespace assay
