#include "domain/row_axes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"

namespace assay {
namespace {

constexpr std::size_t kValueBytesMax = 64;

// The kinds of a content's parts, and its characters.
void read_content(const Json& content, std::set<std::string>& kinds, std::uint32_t& characters) {
  if (content.is_string()) {
    kinds.insert("text");
    characters += characters_in(content.as_string());
    return;
  }
  for (const Json& part : content.items()) {
    const std::string_view type = part["type"].as_string("text");
    kinds.emplace(type == "image_url" ? "picture" : type);
    characters += characters_in(part["text"].as_string());
  }
}

std::string joined(std::set<std::string> kinds) {
  std::string out = kinds.erase("text") > 0 ? "text" : "";
  for (const std::string& kind : kinds) out += (out.empty() ? "" : "+") + kind;
  return out;
}

struct Content {
  std::string modality{};
  std::uint32_t characters = 0;
};

Content content_of(const Sample& sample) {
  std::set<std::string> kinds;
  Content out{.characters = characters_in(sample.system) + characters_in(sample.prompt)};
  if (!sample.prompt.empty() || !sample.input_tokens.empty()) kinds.insert("text");
  read_content(sample.content_parts, kinds, out.characters);
  for (std::size_t i = 0; i < sample.messages.size(); ++i) {
    read_content(sample.messages[i]["content"], kinds, out.characters);
  }
  for (const Attachment& one : sample.attachments) {
    // A media type's first half; a tensor has a datatype.
    const std::size_t at = one.type.find('/');
    kinds.insert(at == std::string::npos ? "tensor" : one.type.substr(0, at));
  }
  out.modality = joined(std::move(kinds));
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

std::string modality_of(const Json& content) {
  std::set<std::string> kinds;
  std::uint32_t ignored = 0;
  read_content(content, kinds, ignored);
  return joined(std::move(kinds));
}

RowAxes axes_of(const Dataset& dataset) {
  RowAxes out;
  if (dataset.make_row || dataset.samples.size() > kAxisRowsMax) return out;
  RowAxis modality{.name = "modality"};
  bool shown = true;
  for (const Sample& sample : dataset.samples) {
    const Content content = content_of(sample);
    out.characters.push_back(content.characters);
    shown = shown && add_value(modality, content.modality);
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
  if (out.axes.empty()) out.characters.clear();
  return out;
}

Json to_json(const RowAxes& axes) {
  Json list = Json::array();
  for (const RowAxis& axis : axes.axes) {
    Json values = Json::array();
    for (const std::string& value : axis.values) values.push_back(value);
    Json rows = Json::array();
    for (const std::uint8_t row : axis.rows) rows.push_back(std::uint64_t{row});
    list.push_back(Json()
                       .set("axis", axis.name)
                       .set("values", std::move(values))
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
