#include "dataset/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "dataset/arrow.h"
#include "dataset/croissant.h"
#include "dataset/csv.h"
#include "dataset/data_files.h"
#include "dataset/dlrm_data.h"
#include "dataset/file_rows.h"
#include "dataset/json_rows.h"
#include "dataset/loader.h"
#include "dataset/mix.h"
#include "dataset/parquet.h"
#include "dataset/predefined.h"
#include "dataset/program_rows.h"
#include "dataset/row_source.h"
#include "dataset/synthetic.h"
#include "dataset/tensor_rows.h"
#include "dataset/trajectory.h"
#include "dataset/web_shard.h"

namespace assay::dataset {
namespace {

constexpr std::array<std::string_view, 14> kFormats{
    "jsonl",     "json",     "csv",          "tsv",         "sharegpt", "parquet", "arrow",
    "croissant", "mooncake", "openai_batch", "huggingface", "npy",      "npz",     "webdataset"};

// One file of a dataset. `prefix` names it in messages if the dataset has several files.
struct Part {
  std::string path{};
  std::string prefix{};
};

// Converts an error of a reader ("LINE: what") or of the disk.
Error read_error(const Error& error, const std::string& path) {
  if (error.code != Code::invalid) return error;
  return invalid(format("{}:{}", path, error.message));
}

// The functions below add a file's rows, and return the file's SHA-256.

template <typename Reader>
Result<std::string> add_rows(Reader& reader, Loader& loader, const Part& part) {
  while (!loader.full()) {
    const auto row = reader.next();
    if (!row) return read_error(row.error(), part.path);
    if (!*row) break;
    TRY(loader.add_text(**row, part.prefix + std::to_string(reader.line())));
  }
  return reader.sha256();
}

Result<std::string> add_lines(Loader& loader, const Part& part) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(part.path));
  LineReader reader(std::move(chunks));
  return add_rows(reader, loader, part);
}

// The whole text of a file.
Result<std::string> chunk_text(Chunks& chunks, const Part& part) {
  constexpr std::size_t kTextBytesMax = std::size_t{1} << 30;
  std::string text;
  for (;;) {
    const auto piece = chunks.next();
    if (!piece) return read_error(piece.error(), part.path);
    if (piece->empty()) return text;
    if (text.size() + piece->size() > kTextBytesMax) {
      return invalid(
          format("{}: an object of columns of more than {} bytes", part.path, kTextBytesMax));
    }
    text += *piece;
  }
}

// Reads a table by columns, as pandas writes it: {"prompt": ["…", "…"]} or {"prompt": {"0": "…",
// "1": "…"}}.
Result<std::string> add_columns(Loader& loader, const Part& part) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(part.path));
  ASSIGN_OR_RETURN(const std::string text, chunk_text(chunks, part));
  auto parsed = Json::parse(text);
  const std::string first = part.prefix + "1";
  if (!parsed) {
    const std::string_view first_line = std::string_view(text).substr(0, text.find('\n'));
    const bool lines = Json::parse(first_line).has_value();
    return loader.at(first, lines ? "one JSON value a line: name the file .jsonl or give "
                                    "format=jsonl"
                                  : parsed.error().message);
  }
  const Json& table = *parsed;
  std::size_t rows = 0;
  for (const auto& [name, column] : table.members()) {
    if (!column.is_array() && !column.is_object()) {
      return loader.at(first, format("expected an array of rows, or an object of columns; '{}' is "
                                     "neither a list nor an object",
                                     name));
    }
    if (rows != 0 && column.size() != rows) {
      return loader.at(first, format("column '{}' has {} rows, those before it have {}", name,
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
    TRY(loader.add(std::move(row), format("{}row {}", part.prefix, i + 1)));
  }
  return chunks.sha256();
}

Result<std::string> add_json(Loader& loader, const Part& part) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(part.path));
  ElementReader reader(std::move(chunks));
  const auto array = reader.is_array();
  if (!array) return read_error(array.error(), part.path);
  if (!*array) return add_columns(loader, part);
  return add_rows(reader, loader, part);
}

// A header of one column whose name holds another separator is a file of that separator.
Result<void> check_header(const std::vector<std::string>& names, const Loader& loader,
                          const std::string& place) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      return loader.at(place, format("two columns are called '{}'", names[i]));
    }
  }
  if (names.size() != 1) return {};
  if (names[0].find('\t') != std::string::npos) {
    return loader.at(place,
                     "the columns are separated by tabs: name the file .tsv or give "
                     "format=tsv");
  }
  if (names[0].find(';') != std::string::npos) {
    return loader.at(place,
                     "the columns are separated by ';': write the file with commas, with "
                     "Python: pandas.read_csv(file, sep=\";\").to_csv(other, index=False)");
  }
  return {};
}

Result<std::string> add_csv(Loader& loader, const Part& part, char delimiter) {
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(part.path));
  CsvReader reader(std::move(chunks), delimiter);
  const auto header = reader.next();
  if (!header) return read_error(header.error(), part.path);
  if (!*header) {
    return invalid(format("'{}' is empty; its first line must name the columns", part.path));
  }
  const std::vector<std::string>& names = **header;
  TRY(check_header(names, loader, part.prefix + "1"));
  while (!loader.full()) {
    auto fields = reader.next();
    if (!fields) return read_error(fields.error(), part.path);
    if (!*fields) break;
    const std::string place = part.prefix + std::to_string(reader.line());
    if ((*fields)->size() != names.size()) {
      return loader.at(place, format("{} fields, where the header names {} columns",
                                     (*fields)->size(), names.size()));
    }
    Json::Object row;
    for (std::size_t i = 0; i < names.size(); ++i) {
      row.emplace_back(names[i], std::move((**fields)[i]));
    }
    TRY(loader.add(Json(std::move(row)), place));
  }
  return reader.sha256();
}

Result<std::string> add_source(Loader& loader, RowSource& source, const std::string& prefix) {
  while (!loader.full()) {
    auto row = source.next();
    if (!row) return row.error();
    if (!*row) break;
    TRY(loader.add(**std::move(row), prefix + source.place()));
  }
  return source.sha256();
}

// Files of columns, whose rows are typed: they can be shown as they stand.
bool is_columns(std::string_view kind) {
  return kind == "parquet" || kind == "arrow" || kind == "webdataset";
}

Result<std::unique_ptr<RowSource>> open_columns(std::string_view kind, const std::string& path) {
  if (kind == "webdataset") return open_web_shard(path);
  return kind == "arrow" ? open_arrow(path) : open_parquet(path);
}

Result<std::string> add_part(const Spec& spec, std::string_view kind, RowKind rows, Loader& loader,
                             const Part& part) {
  if (is_columns(kind)) {
    ASSIGN_OR_RETURN(const auto source, open_columns(kind, part.path));
    return add_source(loader, *source, part.prefix);
  }
  if (kind == "csv" || kind == "tsv") return add_csv(loader, part, kind == "csv" ? ',' : '\t');
  const bool lines = kind == "jsonl" || rows == RowKind::openai_batch ||
                     (!spec.format.empty() && extension_of(part.path) == "jsonl");
  return lines ? add_lines(loader, part) : add_json(loader, part);
}

// The hash of one file is the file's own; of several, that of the list of their hashes and names.
Result<Dataset> load_parts(const Spec& spec, std::string_view kind, const std::vector<Part>& parts,
                           std::optional<Preset> preset) {
  const RowKind rows = kind == "sharegpt"       ? RowKind::sharegpt
                       : kind == "mooncake"     ? RowKind::mooncake
                       : kind == "openai_batch" ? RowKind::openai_batch
                                                : RowKind::any;
  const bool text = kind == "csv" || kind == "tsv";
  Loader loader(spec, text ? RowMapper::Cells::text : RowMapper::Cells::typed, rows,
                std::move(preset));
  std::string hashes;
  std::string only;
  for (const Part& part : parts) {
    ASSIGN_OR_RETURN(only, add_part(spec, kind, rows, loader, part));
    hashes += format("{}  {}\n", only, std::filesystem::path(part.path).filename().string());
  }
  return loader.finish(parts.size() == 1 ? only : sha256_hex(hashes));
}

bool names_column(const Spec& spec, std::string_view name) {
  return std::ranges::find(spec.kind_columns, name) != spec.kind_columns.end();
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

// Returns one of kFormats. "huggingface" is any folder: its files say what they are.
Result<std::string_view> format_of(const Spec& spec, std::string_view extension) {
  const bool told = !spec.format.empty() && spec.format != "huggingface";
  std::string word = lower(told ? std::string_view(spec.format) : extension);
  if (word.starts_with('.')) word.erase(0, 1);
  if (word == "ndjson") word = "jsonl";
  if (word == "tar") word = "webdataset";
  for (const std::string_view known : kFormats) {
    if (word == known) return known;
  }
  if (!told) {
    std::error_code error;
    if (!std::filesystem::exists(spec.path, error)) {
      return Error{Code::not_found, format("'{}': no such file", spec.path)};
    }
    return invalid(format(
        "'{}': its name does not say what it is; give format=jsonl, json, csv, tsv, "
        "parquet, arrow, webdataset, croissant, mooncake, openai_batch, sharegpt, npy, npz or "
        "dlrm_v3",
        spec.path));
  }
  const std::string_view near = nearest(word, kFormats);
  return invalid(
      format("format: unknown value '{}'{}; one of: jsonl, json, csv, tsv, parquet, "
             "arrow, webdataset, croissant, mooncake, openai_batch, sharegpt, npy, npz, dlrm_v3",
             spec.format, near.empty() ? "" : format(", did you mean '{}'?", near)));
}

struct Listing {
  std::string_view kind{};  // one of kFormats
  std::vector<Part> parts{};
};

Result<Listing> source_of(const Spec& spec) {
  Listing out;
  if (!is_data_folder(spec.path)) {
    if (spec.format == "huggingface") {
      return Error{Code::not_found, format("'{}': no such folder", spec.path)};
    }
    ASSIGN_OR_RETURN(out.kind, format_of(spec, extension_of(spec.path)));
    out.parts.push_back({.path = spec.path});
    return out;
  }
  ASSIGN_OR_RETURN(const DataFiles found, data_files(spec.path));
  ASSIGN_OR_RETURN(out.kind, format_of(spec, found.extension));
  for (const std::filesystem::path& file : found.files) {
    out.parts.push_back(
        {.path = file.string(),
         .prefix = found.files.size() == 1 ? "" : format("{}:", file.filename().string())});
  }
  return out;
}

// The rows of several files of columns, one file after the other.
class Shards final : public RowSource {
 public:
  Shards(std::string_view kind, std::vector<Part> parts) : kind_(kind), parts_(std::move(parts)) {}

  Result<std::optional<Json>> next() override {
    for (;;) {
      if (now_ == nullptr) {
        if (at_ == parts_.size()) return std::optional<Json>();
        ASSIGN_OR_RETURN(now_, open_columns(kind_, parts_[at_].path));
      }
      ASSIGN_OR_RETURN(std::optional<Json> row, now_->next());
      if (row) return row;
      ASSIGN_OR_RETURN(const std::string hash, now_->sha256());
      hashes_ +=
          format("{}  {}\n", hash, std::filesystem::path(parts_[at_].path).filename().string());
      now_ = nullptr;
      ++at_;
    }
  }
  std::string place() const override {
    return now_ == nullptr ? std::string() : parts_[at_].prefix + now_->place();
  }
  Result<std::string> sha256() override { return sha256_hex(hashes_); }

 private:
  std::string_view kind_;
  std::vector<Part> parts_;
  std::unique_ptr<RowSource> now_{};
  std::size_t at_ = 0;
  std::string hashes_{};
};

}  // namespace

Result<std::unique_ptr<RowSource>> open_rows(const Spec& spec) {
  if (is_croissant(spec)) return open_croissant(spec.path);
  ASSIGN_OR_RETURN(Listing source, source_of(spec));
  if (is_columns(source.kind) && source.parts.size() == 1) {
    return open_columns(source.kind, source.parts[0].path);
  }
  if (is_columns(source.kind)) {
    return std::unique_ptr<RowSource>(
        std::make_unique<Shards>(source.kind, std::move(source.parts)));
  }
  return Error{
      Code::unsupported,
      format("'{}': rows as they stand are shown of parquet, arrow and croissant", spec.path)};
}

namespace {

// The rows of a program are read as a file of them is.
Result<Dataset> load_program(const Spec& spec) {
  if (!spec.format.empty() && spec.format != "jsonl") {
    return invalid(
        format("format: a program writes jsonl; '{}' is not read from one", spec.format));
  }
  ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::make("rows"));
  Spec written = spec;
  written.path = (folder.path() / "rows.jsonl").string();
  written.format = "jsonl";
  TRY(write_program_rows(spec.path, written.path));
  auto out = load_dataset(written);
  if (!out) return out.error().within(format("the rows of '{}'", spec.path));
  out->path = spec.path;
  return out;
}

}  // namespace

Result<Dataset> load_dataset(const Spec& spec) {
  if (is_row_program(spec.path)) return load_program(spec);
  if (spec.synthetic && !spec.synthetic->classes.empty()) {
    SyntheticSpec mix = *spec.synthetic;
    for (const FileColumn& column : kFileColumns) {
      if (names_column(spec, column.name)) mix.file_columns.emplace_back(column.name);
    }
    return make_mix(mix, spec.name);
  }
  if (spec.synthetic) return make_synthetic(*spec.synthetic, spec.name);
  std::error_code ignored;
  const bool croissant = is_croissant(spec);
  const bool here = croissant || spec.format == "dlrm_v3" ||
                    std::filesystem::exists(spec.path, ignored) || is_data_folder(spec.path);
  const std::string& id = here || predefined(spec.name) ? spec.name : spec.path;
  if (spec.path.empty() || (!here && predefined(spec.path))) {
    const auto entry = predefined(spec.path.empty() ? spec.name : spec.path);
    if (!entry) {
      return invalid(format("dataset '{}' has no path and is not a predefined dataset", spec.name));
    }
    Spec found = spec;
    found.path = find_predefined(entry->id);
    if (found.path.empty()) return not_here(*entry, id);
    if (found.name.empty() || !predefined(found.name)) found.name = id;
    found.format.clear();
    return load_dataset(found);
  }
  if (spec.conversations) return load_replay(spec);
  if (spec.format == "dlrm_v3") return load_dlrm_data(spec);
  std::optional<Preset> preset;
  if (spec.prompt_format.empty()) {
    ASSIGN_OR_RETURN(preset, Preset::of(spec.name));
  } else {
    preset = Preset::of_format(spec.prompt_format);
  }
  if (croissant) {
    ASSIGN_OR_RETURN(const auto source, open_croissant(spec.path));
    Loader loader(spec, RowMapper::Cells::typed, RowKind::any, std::move(preset));
    ASSIGN_OR_RETURN(std::string sha256, add_source(loader, *source, ""));
    return loader.finish(std::move(sha256));
  }
  ASSIGN_OR_RETURN(const Listing source, source_of(spec));
  if (is_tensor_format(source.kind)) return load_tensors(spec, source.kind);
  ASSIGN_OR_RETURN(Dataset out, load_parts(spec, source.kind, source.parts, std::move(preset)));
  if (names_column(spec, "inputs")) TRY(attach_tensor_files(out, source.parts.front().path));
  for (const FileColumn& column : kFileColumns) {
    if (!names_column(spec, column.name)) continue;
    TRY(attach_files(out, column, source.parts.front().path));
  }
  return out;
}

}  // namespace assay::dataset
