// Rows of a resource's files: read_files of croissant_files.h.
#include <utility>

#include "base/format.h"
#include "dataset/binary_cell.h"
#include "dataset/chunks.h"
#include "dataset/croissant_files.h"
#include "dataset/csv.h"
#include "dataset/json_path.h"
#include "dataset/json_rows.h"
#include "dataset/parquet.h"

namespace assay::dataset::croissant {
namespace {

using Row = std::optional<Json>;

// One file's rows, without the file's own properties.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;
  virtual Result<Row> next() = 0;
};

class TableReader final : public Reader {
 public:
  TableReader(std::string text, char delimiter)
      : text_(std::move(text)), csv_(Chunks::of(text_), delimiter) {}
  explicit TableReader(Chunks chunks, char delimiter) : csv_(std::move(chunks), delimiter) {}

  Result<Row> next() override {
    if (names_.empty()) {
      ASSIGN_OR_RETURN(auto header, csv_.next());
      if (!header) return Row();
      names_ = *std::move(header);
    }
    ASSIGN_OR_RETURN(auto fields, csv_.next());
    if (!fields) return Row();
    if (fields->size() != names_.size()) {
      return invalid(format("{}: {} fields, where the header names {} columns", csv_.line(),
                            fields->size(), names_.size()));
    }
    Json row = Json::object();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string& field = (*fields)[i];
      row.make_object().emplace_back(names_[i], field.empty() ? Json() : Json(std::move(field)));
    }
    return Row(std::move(row));
  }

 private:
  std::string text_{};
  CsvReader csv_;
  std::vector<std::string> names_{};
};

// Adds the values of JSONPaths to a row: one match, or a list of several.
Result<void> add_paths(const Json& json, const std::set<std::string>& paths, Json& row) {
  for (const std::string& text : paths) {
    ASSIGN_OR_RETURN(const JsonPath path, JsonPath::parse(text));
    const std::vector<const Json*> found = path.find(json);
    Json value;
    if (found.size() == 1) {
      value = *found.front();
    } else if (found.size() > 1) {
      for (const Json* item : found) value.push_back(*item);
    }
    row.set(text, std::move(value));
  }
  return {};
}

class LinesReader final : public Reader {
 public:
  LinesReader(std::string text, const Wanted& wanted)
      : text_(std::move(text)), lines_(Chunks::of(text_)), wanted_(wanted) {}
  LinesReader(Chunks chunks, const Wanted& wanted) : lines_(std::move(chunks)), wanted_(wanted) {}

  Result<Row> next() override {
    ASSIGN_OR_RETURN(const auto line, lines_.next());
    if (!line) return Row();
    auto parsed = Json::parse(*line);
    if (!parsed) return invalid(format("{}: {}", lines_.line(), parsed.error().message));
    if (!parsed->is_object()) return invalid(format("{}: expected an object", lines_.line()));
    Json row = *std::move(parsed);
    const Json whole = wanted_.paths.empty() ? Json() : row;
    TRY(add_paths(whole, wanted_.paths, row));
    return Row(std::move(row));
  }

 private:
  std::string text_{};
  LineReader lines_;
  const Wanted& wanted_;
};

// Rows that are read at once: from a JSON file, from lines, from a whole file.
class ListReader final : public Reader {
 public:
  explicit ListReader(std::vector<Json> rows) : rows_(std::move(rows)) {}
  Result<Row> next() override {
    if (at_ == rows_.size()) return Row();
    return Row(std::move(rows_[at_++]));
  }

 private:
  std::vector<Json> rows_;
  std::size_t at_ = 0;
};

class SourceReader final : public Reader {
 public:
  explicit SourceReader(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}
  Result<Row> next() override { return source_->next(); }

 private:
  std::unique_ptr<RowSource> source_;
};

// Each path is a column; the n-th match of every path is in row n.
Result<std::vector<Json>> json_rows(std::string_view text, const Wanted& wanted) {
  ASSIGN_OR_RETURN(Json json, Json::parse(text));
  std::vector<Json> rows;
  if (wanted.paths.empty()) {
    if (wanted.columns && json.is_array()) return std::move(json.make_array());
    rows.push_back(Json::object().set("@content", std::move(json)));
    return rows;
  }
  bool first = true;
  for (const std::string& path_text : wanted.paths) {
    ASSIGN_OR_RETURN(const JsonPath path, JsonPath::parse(path_text));
    const std::vector<const Json*> found = path.find(json);
    if (first) rows.assign(found.size(), Json::object());
    if (found.size() != rows.size()) {
      return invalid(format("\"{}\" names {} values, another JSONPath of the record set {}",
                            path_text, found.size(), rows.size()));
    }
    for (std::size_t i = 0; i < found.size(); ++i) rows[i].set(path_text, *found[i]);
    first = false;
  }
  return rows;
}

std::vector<Json> line_rows(std::string_view text) {
  std::vector<Json> rows;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    Json row = Json::object();
    row.set("@lines", binary_cell(line)).set("@lineNumbers", rows.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

bool has_format(const Resource& resource, std::initializer_list<std::string_view> formats) {
  for (const std::string& encoding : resource.encodings) {
    for (const std::string_view format : formats) {
      if (std::string_view(encoding).substr(0, encoding.find(';')) == format) return true;
    }
  }
  return false;
}

class FilesSource final : public RowSource {
 public:
  FilesSource(std::vector<File> files, const Resource& resource, Wanted wanted)
      : files_(std::move(files)), resource_(resource), wanted_(std::move(wanted)) {}

  Result<std::optional<Json>> next() override {
    for (;;) {
      if (reader_ == nullptr) {
        if (at_ == files_.size()) return Row();
        auto opened = open(files_[at_]);
        if (!opened) return opened.error().within(files_[at_].full_path);
        reader_ = *std::move(opened);
        row_ = 0;
      }
      auto row = reader_->next();
      if (!row) return row.error().within(files_[at_].full_path);
      if (!*row) {
        reader_.reset();
        ++at_;
        continue;
      }
      ++row_;
      add_properties(**row);
      return row;
    }
  }

  std::string place() const override {
    return at_ < files_.size() ? format("{}: row {}", files_[at_].full_path, row_) : "the end";
  }
  Result<std::string> sha256() override { return std::string(); }

 private:
  void add_properties(Json& row) const {
    const File& file = files_[at_];
    const std::string& path = file.full_path;
    row.set("@fullpath", path).set("@filename", path.substr(path.rfind('/') + 1));
    row.set("@filepath", file.archive == nullptr ? file.path.string() : path);
  }

  Result<std::unique_ptr<Reader>> open(const File& file) const {
    const auto make = [](auto reader) -> std::unique_ptr<Reader> { return reader; };
    if (!wanted_.content && !wanted_.lines && !wanted_.columns && wanted_.paths.empty()) {
      return make(std::make_unique<ListReader>(std::vector<Json>{Json::object()}));
    }
    ASSIGN_OR_RETURN(InputFile input, file.open());
    const bool parquet =
        has_format(resource_, {"application/x-parquet", "application/vnd.apache.parquet"});
    if (parquet) {
      ASSIGN_OR_RETURN(auto source, open_parquet(std::move(input), file.full_path));
      return make(std::make_unique<SourceReader>(std::move(source)));
    }
    ASSIGN_OR_RETURN(const std::string head, input.read(0, 2));
    // A file on disk is read row by row; a member of an archive or gzip is in memory.
    const bool direct = file.archive == nullptr && !head.starts_with("\x1F\x8B");
    const bool csv = has_format(resource_, {"text/csv"});
    const bool lines = has_format(resource_, {"application/jsonlines", "application/jsonl",
                                              "application/x-ndjson", "application/x-jsonlines"});
    if (csv || has_format(resource_, {"text/tab-separated-values"})) {
      const char delimiter = csv ? ',' : '\t';
      if (!direct) {
        ASSIGN_OR_RETURN(std::string text, gunzipped(input));
        return make(std::make_unique<TableReader>(std::move(text), delimiter));
      }
      ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(file.path));
      return make(std::make_unique<TableReader>(std::move(chunks), delimiter));
    }
    if (lines && direct) {
      ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(file.path));
      return make(std::make_unique<LinesReader>(std::move(chunks), wanted_));
    }
    ASSIGN_OR_RETURN(std::string text, gunzipped(input));
    if (lines) return make(std::make_unique<LinesReader>(std::move(text), wanted_));
    if (has_format(resource_,
                   {"application/json", "application/ld+json", "application/geo+json"})) {
      ASSIGN_OR_RETURN(auto rows, json_rows(text, wanted_));
      return make(std::make_unique<ListReader>(std::move(rows)));
    }
    if (wanted_.lines) return make(std::make_unique<ListReader>(line_rows(text)));
    if (wanted_.columns || !wanted_.paths.empty()) {
      std::string formats;
      for (const std::string& encoding : resource_.encodings) formats += " " + encoding;
      return invalid(format("its encodingFormat,{}, has no columns that are read", formats));
    }
    std::vector<Json> rows;
    rows.push_back(Json::object().set("@content", binary_cell(text)));
    return make(std::make_unique<ListReader>(std::move(rows)));
  }

  std::vector<File> files_;
  const Resource& resource_;
  Wanted wanted_;
  std::unique_ptr<Reader> reader_{};
  std::size_t at_ = 0;
  std::uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> read_files(std::vector<File> files, const Resource& resource,
                                      Wanted wanted) {
  return std::make_unique<FilesSource>(std::move(files), resource, std::move(wanted));
}

}  // namespace assay::dataset::croissant
