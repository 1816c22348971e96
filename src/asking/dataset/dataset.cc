#include "dataset/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/conversations.h"
#include "dataset/croissant.h"
#include "dataset/csv.h"
#include "dataset/json_rows.h"
#include "dataset/loader.h"
#include "dataset/parquet.h"
#include "dataset/predefined.h"
#include "dataset/row_source.h"
#include "dataset/synthetic.h"

namespace assay::dataset {
namespace {

constexpr std::array<std::string_view, 9> kFormats{"jsonl",    "json",         "csv",
                                                   "sharegpt", "parquet",      "croissant",
                                                   "mooncake", "openai_batch", "huggingface"};

// Converts an error of a reader ("LINE: what") or of the disk.
Error read_error(const Error& error, const std::string& path) {
  if (error.code != Code::invalid) return error;
  return invalid(format("{}:{}", path, error.message));
}

template <typename Reader>
Result<Dataset> load_rows(Reader& reader, Loader& loader, const std::string& path) {
  while (!loader.full()) {
    const auto row = reader.next();
    if (!row) return read_error(row.error(), path);
    if (!*row) break;
    TRY(loader.add_text(**row, std::to_string(reader.line())));
  }
  ASSIGN_OR_RETURN(std::string sha256, reader.sha256());
  return loader.finish(std::move(sha256));
}

Result<Dataset> load_lines(const Spec& spec, RowKind kind, std::optional<Preset> preset) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(spec.path));
  LineReader reader(std::move(chunks));
  Loader loader(spec, RowMapper::Cells::typed, kind, std::move(preset));
  return load_rows(reader, loader, spec.path);
}

// Reads a table by columns, as pandas writes it: {"prompt": ["…", "…"]} or {"prompt": {"0": "…",
// "1": "…"}}.
Result<Dataset> load_columns(const Spec& spec, std::optional<Preset> preset) {
  ASSIGN_OR_RETURN(const std::string text, read_file(spec.path));
  auto parsed = Json::parse(text);
  Loader loader(spec, RowMapper::Cells::typed, RowKind::any, std::move(preset));
  if (!parsed) {
    const std::string_view first_line = std::string_view(text).substr(0, text.find('\n'));
    const bool lines = Json::parse(first_line).has_value();
    return loader.at("1", lines ? "one JSON value a line: name the file .jsonl or give format=jsonl"
                                : parsed.error().message);
  }
  const Json& table = *parsed;
  std::size_t rows = 0;
  for (const auto& [name, column] : table.members()) {
    if (!column.is_array() && !column.is_object()) {
      return loader.at("1", format("expected an array of rows, or an object of columns; '{}' is "
                                   "neither a list nor an object",
                                   name));
    }
    if (rows != 0 && column.size() != rows) {
      return loader.at("1", format("column '{}' has {} rows, those before it have {}", name,
                                   column.size(), rows));
    }
    rows = column.size();
  }
  for (std::size_t i = 0; i < rows && !loader.full(); ++i) {
    Json row = Json::object();
    for (const auto& [name, column] : table.members()) {
      row.make_object().emplace_back(
          name, column.is_array() ? column.items()[i] : column.members()[i].second);
    }
    TRY(loader.add(std::move(row), format("row {}", i + 1)));
  }
  return loader.finish(sha256_hex(text));
}

Result<Dataset> load_json(const Spec& spec, RowKind kind, std::optional<Preset> preset) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(spec.path));
  ElementReader reader(std::move(chunks));
  const auto array = reader.is_array();
  if (!array) return read_error(array.error(), spec.path);
  if (!*array) return load_columns(spec, std::move(preset));
  Loader loader(spec, RowMapper::Cells::typed, kind, std::move(preset));
  return load_rows(reader, loader, spec.path);
}

Result<Dataset> load_csv(const Spec& spec, std::optional<Preset> preset) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(spec.path));
  CsvReader reader(std::move(chunks));
  Loader loader(spec, RowMapper::Cells::text, RowKind::any, std::move(preset));
  const auto header = reader.next();
  if (!header) return read_error(header.error(), spec.path);
  if (!*header)
    return invalid(format("'{}' is empty; its first line must name the columns", spec.path));
  const std::vector<std::string>& names = **header;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return loader.at("1", format("two columns are called '{}'", names[i]));
    }
  }
  while (!loader.full()) {
    auto fields = reader.next();
    if (!fields) return read_error(fields.error(), spec.path);
    if (!*fields) break;
    if ((*fields)->size() != names.size()) {
      return loader.at(
          std::to_string(reader.line()),
          format("{} fields, where the header names {} columns", (*fields)->size(), names.size()));
    }
    Json::Object row;
    for (std::size_t i = 0; i < names.size(); ++i) {
      row.emplace_back(names[i], std::move((**fields)[i]));
    }
    TRY(loader.add(Json(std::move(row)), std::to_string(reader.line())));
  }
  ASSIGN_OR_RETURN(std::string sha256, reader.sha256());
  return loader.finish(std::move(sha256));
}

Result<Dataset> load_source(const Spec& spec, RowSource& source, std::optional<Preset> preset) {
  Loader loader(spec, RowMapper::Cells::typed, RowKind::any, std::move(preset));
  while (!loader.full()) {
    auto row = source.next();
    if (!row) return row.error();
    if (!*row) break;
    TRY(loader.add(**std::move(row), source.place()));
  }
  ASSIGN_OR_RETURN(std::string sha256, source.sha256());
  return loader.finish(std::move(sha256));
}

bool is_croissant(const Spec& spec) {
  return spec.path.starts_with(kCroissantPrefix) || spec.format == "croissant";
}

Error not_here(const Predefined& entry, std::string_view name) {
  if (entry.id == "random") {
    return Error{Code::unsupported,
                 "the predefined dataset 'random' is made here by --isl and --osl (or a dataset "
                 "with a `synthetic` block)"};
  }
  return Error{Code::unsupported,
               format("the predefined dataset '{}' is not fetched by Assay. Its owners publish it "
                      "here: {}. Save it as datasets/{}.parquet (or .jsonl, .json, .csv) with the "
                      "columns {}, or give a file as path",
                      name, entry.source, entry.id, entry.columns)};
}

// Returns one of kFormats.
Result<std::string_view> format_of(const Spec& spec) {
  const bool told = !spec.format.empty();
  std::string word =
      lower(told ? spec.format : std::filesystem::path(spec.path).extension().string());
  if (word.starts_with('.')) word.erase(0, 1);
  if (word == "ndjson") word = "jsonl";
  for (const std::string_view known : kFormats) {
    if (word == known) return known;
  }
  if (!told) {
    std::error_code error;
    if (!std::filesystem::exists(spec.path, error)) {
      return Error{Code::not_found, format("'{}': no such file", spec.path)};
    }
    return invalid(
        format("'{}': its name does not say what it is; give format=jsonl, json, csv, parquet, "
               "croissant, mooncake, openai_batch or sharegpt",
               spec.path));
  }
  const std::string_view near = nearest(word, kFormats);
  return invalid(
      format("format: unknown value '{}'{}; one of: jsonl, json, csv, parquet, "
             "croissant, mooncake, openai_batch, sharegpt",
             spec.format, near.empty() ? "" : format(", did you mean '{}'?", near)));
}

}  // namespace

Result<std::unique_ptr<RowSource>> open_rows(const Spec& spec) {
  if (is_croissant(spec)) return open_croissant(spec.path);
  ASSIGN_OR_RETURN(const std::string_view kind, format_of(spec));
  if (kind == "parquet") return open_parquet(spec.path);
  return Error{Code::unsupported,
               format("'{}': rows as they stand are shown of parquet and croissant", spec.path)};
}

Result<Dataset> load_dataset(const Spec& spec) {
  if (spec.synthetic) return make_synthetic(*spec.synthetic, spec.name);
  std::error_code ignored;
  const bool croissant = is_croissant(spec);
  const bool here = croissant || std::filesystem::exists(spec.path, ignored);
  const std::string& id = here || predefined(spec.name) ? spec.name : spec.path;
  if (spec.path.empty() || (!here && predefined(spec.path))) {
    const auto entry = predefined(spec.path.empty() ? spec.name : spec.path);
    if (!entry) {
      return invalid(format("dataset '{}' has no path and is no predefined dataset", spec.name));
    }
    Spec found = spec;
    found.path = find_predefined(entry->id);
    if (found.path.empty()) return not_here(*entry, id);
    if (found.name.empty() || !predefined(found.name)) found.name = id;
    found.format.clear();
    return load_dataset(found);
  }
  if (spec.conversations) return load_conversations(spec);
  std::optional<Preset> preset;
  if (spec.prompt_format.empty()) {
    ASSIGN_OR_RETURN(preset, Preset::of(spec.name));
  } else {
    preset = Preset::of_format(spec.prompt_format);
  }
  if (croissant) {
    ASSIGN_OR_RETURN(const auto source, open_croissant(spec.path));
    return load_source(spec, *source, std::move(preset));
  }
  ASSIGN_OR_RETURN(const std::string_view kind, format_of(spec));
  if (kind == "parquet") {
    ASSIGN_OR_RETURN(const auto source, open_parquet(spec.path));
    return load_source(spec, *source, std::move(preset));
  }
  if (kind == "csv") return load_csv(spec, std::move(preset));
  const RowKind rows = kind == "sharegpt"       ? RowKind::sharegpt
                       : kind == "mooncake"     ? RowKind::mooncake
                       : kind == "openai_batch" ? RowKind::openai_batch
                                                : RowKind::any;
  const bool lines =
      kind == "jsonl" || rows == RowKind::openai_batch || lower(spec.path).ends_with(".jsonl");
  if (kind != "huggingface") {
    return lines ? load_lines(spec, rows, std::move(preset))
                 : load_json(spec, rows, std::move(preset));
  }
  return Error{Code::unsupported,
               format("'{}': a folder of datasets.save_to_disk is not read; write it as Parquet, "
                      "with Python: datasets.load_from_disk(path)[\"train\"].to_parquet(file)",
                      spec.path)};
}

}  // namespace assay::dataset
