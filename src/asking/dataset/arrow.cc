#include "dataset/arrow.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/format.h"
#include "dataset/arrow_meta.h"
#include "dataset/parquet_values.h"

namespace assay::dataset {
namespace arrow {
namespace {

constexpr std::uint32_t kMetaMax = 64u << 20;
constexpr std::uint64_t kBodyMax = std::uint64_t{2} << 30;
constexpr std::uint64_t kCellItemsMax = 1u << 22;
constexpr std::string_view kArrowMagic = "ARROW1";

Error corrupt(std::string_view what) {
  return invalid(format("an Arrow batch is broken: {}", what));
}

// A column of one batch: views into the batch's body.
struct Column {
  const Field* field = nullptr;
  std::uint64_t length = 0;
  bool placed = false;  // the values are places in a dictionary
  std::string_view valid{};
  std::string_view offsets{};
  std::string_view values{};
  std::vector<Column> children{};
};

struct Dictionary {
  std::string body{};
  Column column{};
};
using Dictionaries = std::map<std::int64_t, Dictionary>;

// Takes a batch's columns, depth first, and checks that each buffer is as long as it must be.
class Taker {
 public:
  Taker(const Batch& batch, std::string_view body) : batch_(batch), body_(body) {}

  Result<Column> column(const Field& field, bool dictionary_values = false) {
    if (node_ == batch_.lengths.size()) return corrupt("it has too few columns");
    Column out{.field = &field, .length = batch_.lengths[node_++]};
    out.placed = field.dictionary && !dictionary_values;
    if (!out.placed && field.layout == Layout::nothing) return out;
    if (out.length > body_.size() * 8) return corrupt("a column is longer than the batch");
    TRY(buffer(out.valid));
    if (!out.valid.empty() && out.valid.size() < (out.length + 7) / 8) {
      return corrupt("a column's bits are too few");
    }
    if (out.placed) {
      TRY(values(out, out.length * field.place_width));
      return out;
    }
    TRY(contents(field, out));
    return out;
  }

  bool done() const { return node_ == batch_.lengths.size(); }

 private:
  Result<void> contents(const Field& field, Column& out) {
    switch (field.layout) {
      case Layout::nothing:
        return {};
      case Layout::boolean:
        return values(out, (out.length + 7) / 8);
      case Layout::number:
        return values(out, out.length * field.width);
      case Layout::bytes:
        TRY(offsets(out));
        return buffer(out.values);
      case Layout::list:
        TRY(offsets(out));
        break;
      case Layout::fixed_list:
      case Layout::structure:
        break;
    }
    for (const Field& child : field.children) {
      ASSIGN_OR_RETURN(Column below, column(child));
      const std::uint64_t least = field.layout == Layout::structure    ? out.length
                                  : field.layout == Layout::fixed_list ? out.length * field.size
                                                                       : 0;
      if (below.length < least) return corrupt("a column is shorter than the one that holds it");
      out.children.push_back(std::move(below));
    }
    return {};
  }

  Result<void> buffer(std::string_view& view) {
    if (buffer_ == batch_.buffers.size()) return corrupt("it has too few buffers");
    const Buffer& one = batch_.buffers[buffer_++];
    if (one.offset > body_.size() || one.size > body_.size() - one.offset) {
      return corrupt("a buffer lies outside");
    }
    view = body_.substr(static_cast<std::size_t>(one.offset), static_cast<std::size_t>(one.size));
    return {};
  }
  Result<void> values(Column& out, std::uint64_t least) {
    TRY(buffer(out.values));
    if (out.values.size() < least) return corrupt("a column's values are too few");
    return {};
  }
  Result<void> offsets(Column& out) {
    TRY(buffer(out.offsets));
    const std::uint64_t least = out.length == 0 ? 0 : (out.length + 1) * out.field->width;
    if (out.offsets.size() < least) return corrupt("a column's offsets are too few");
    return {};
  }

  const Batch& batch_;
  std::string_view body_;
  std::size_t node_ = 0;
  std::size_t buffer_ = 0;
};

template <typename Number>
std::int64_t load_as(std::string_view bytes, std::uint64_t i) {
  Number value{};
  std::memcpy(&value, bytes.data() + i * sizeof(value), sizeof(value));
  return static_cast<std::int64_t>(value);
}

std::int64_t whole_at(std::string_view bytes, std::uint64_t i, std::uint32_t width,
                      bool is_signed) {
  switch (width) {
    case 1:
      return is_signed ? load_as<std::int8_t>(bytes, i) : load_as<std::uint8_t>(bytes, i);
    case 2:
      return is_signed ? load_as<std::int16_t>(bytes, i) : load_as<std::uint16_t>(bytes, i);
    case 4:
      return is_signed ? load_as<std::int32_t>(bytes, i) : load_as<std::uint32_t>(bytes, i);
    default:
      return load_as<std::int64_t>(bytes, i);
  }
}

// Cells as JSON.
class Cells {
 public:
  explicit Cells(const Dictionaries& dictionaries) : dictionaries_(dictionaries) {}

  Result<Json> cell(const Column& column, std::uint64_t i) const {
    const Field& field = *column.field;
    const auto bit = [i](std::string_view bits) {
      return (static_cast<unsigned char>(bits[static_cast<std::size_t>(i / 8)]) >> (i % 8) & 1) !=
             0;
    };
    if (!column.valid.empty() && !bit(column.valid)) return Json();
    if (column.placed) return placed(column, i);
    switch (field.layout) {
      case Layout::nothing:
        return Json();
      case Layout::boolean:
        return Json(bit(column.values));
      case Layout::number:
        return number(column, i);
      case Layout::bytes: {
        ASSIGN_OR_RETURN(const auto range, range_of(column, i, column.values.size()));
        return parquet::to_json(field.value, column.values.substr(range.first, range.second));
      }
      case Layout::list: {
        ASSIGN_OR_RETURN(const auto range, range_of(column, i, column.children[0].length));
        return field.is_map ? map(column.children[0], range.first, range.second)
                            : list(column.children[0], range.first, range.second);
      }
      case Layout::fixed_list:
        return list(column.children[0], i * field.size, field.size);
      case Layout::structure:
        return structure(column, i);
    }
    return Json();
  }

 private:
  Result<Json> placed(const Column& column, std::uint64_t i) const {
    const Field& field = *column.field;
    const auto found = dictionaries_.find(*field.dictionary);
    if (found == dictionaries_.end()) return corrupt("a dictionary is missing");
    const std::int64_t at = whole_at(column.values, i, field.place_width, field.place_signed);
    const Column& values = found->second.column;
    if (at < 0 || static_cast<std::uint64_t>(at) >= values.length) {
      return corrupt("a place lies outside of its dictionary");
    }
    return cell(values, static_cast<std::uint64_t>(at));
  }

  static Result<Json> number(const Column& column, std::uint64_t i) {
    const Field& field = *column.field;
    const std::size_t at = static_cast<std::size_t>(i) * field.width;
    if (field.width >= 4 || field.value.physical == parquet::Physical::fixed_bytes) {
      return parquet::to_json(field.value, column.values.substr(at, field.width));
    }
    if (field.value.physical == parquet::Physical::byte_array) {
      return parquet::to_json(field.value, column.values.substr(at, field.width));
    }
    return Json(whole_at(column.values, i, field.width, field.is_signed));
  }

  // Begin and size of a text or a list.
  static Result<std::pair<std::size_t, std::size_t>> range_of(const Column& column, std::uint64_t i,
                                                              std::uint64_t end) {
    const std::int64_t begin = whole_at(column.offsets, i, column.field->width, true);
    const std::int64_t next = whole_at(column.offsets, i + 1, column.field->width, true);
    if (begin < 0 || next < begin || static_cast<std::uint64_t>(next) > end) {
      return corrupt("an offset lies outside");
    }
    return std::pair(static_cast<std::size_t>(begin), static_cast<std::size_t>(next - begin));
  }

  Result<Json> list(const Column& items, std::uint64_t begin, std::uint64_t count) const {
    if (count > kCellItemsMax) return corrupt("a list of millions of items in one row");
    Json out = Json::array();
    for (std::uint64_t i = begin; i < begin + count; ++i) {
      ASSIGN_OR_RETURN(Json item, cell(items, i));
      out.push_back(std::move(item));
    }
    return out;
  }

  // An object if its keys are text, else a list of {key, value}.
  Result<Json> map(const Column& entries, std::uint64_t begin, std::uint64_t count) const {
    ASSIGN_OR_RETURN(Json items, list(entries, begin, count));
    const Field& entry = *entries.field;
    if (entry.children[0].value.logical != parquet::Logical::text) return items;
    Json out = Json::object();
    for (const Json& item : items.items()) {
      out.set(item[entry.children[0].name].as_string(), item[entry.children[1].name]);
    }
    return out;
  }

  Result<Json> structure(const Column& column, std::uint64_t i) const {
    Json::Object out;
    for (const Column& child : column.children) {
      ASSIGN_OR_RETURN(Json value, cell(child, i));
      out.emplace_back(child.field->name, std::move(value));
    }
    return Json(std::move(out));
  }

  const Dictionaries& dictionaries_;
};

class ArrowRows final : public RowSource {
 public:
  ArrowRows(InputFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  Result<void> begin() {
    ASSIGN_OR_RETURN(const std::string head, file_.read(0, kArrowMagic.size()));
    if (head == kArrowMagic) at_ = 8;
    ASSIGN_OR_RETURN(const auto first, next_message());
    if (!first || first->kind != Message::Kind::schema) {
      return invalid(format("'{}' is not an Arrow stream: it does not begin with a schema", name_));
    }
    fields_ = first->fields;
    return {};
  }

  Result<std::optional<Json>> next() override {
    while (in_batch_ == rows_) {
      auto more = next_batch();
      if (!more) return more.error().within(name_);
      if (!*more) return std::optional<Json>();
    }
    Json::Object row;
    const Cells cells(dictionaries_);
    ++row_;
    for (const Column& column : columns_) {
      auto value = cells.cell(column, in_batch_);
      if (!value) {
        return value.error().within(format("{}: row {}, '{}'", name_, row_, column.field->name));
      }
      row.emplace_back(column.field->name, *std::move(value));
    }
    ++in_batch_;
    return std::optional<Json>(Json(std::move(row)));
  }

  std::string place() const override { return format("row {}", row_); }

  Result<std::string> sha256() override { return file_.sha256(); }

 private:
  // nullopt at the stream's end. The body is in body_.
  Result<std::optional<Message>> next_message() {
    ASSIGN_OR_RETURN(std::string prefix, file_.read(at_, 8));
    if (prefix.size() < 4) return std::optional<Message>();
    std::uint32_t size = 0;
    std::memcpy(&size, prefix.data(), 4);
    at_ += 4;
    if (size == ~0u) {  // since version 0.15
      if (prefix.size() < 8) return invalid(format("'{}' is cut off", name_));
      std::memcpy(&size, prefix.data() + 4, 4);
      at_ += 4;
    }
    if (size == 0) return std::optional<Message>();
    if (size > kMetaMax) return invalid(format("'{}' is not an Arrow stream", name_));
    ASSIGN_OR_RETURN(const std::string meta, file_.read(at_, size));
    if (meta.size() < size) return invalid(format("'{}' is cut off", name_));
    at_ += size;
    auto message = parse_message(meta);
    if (!message) return message.error().within(name_);
    if (message->body_size > kBodyMax || message->body_size > file_.size() - at_) {
      return invalid(format("'{}' is cut off, or a batch is larger than 2 GiB", name_));
    }
    ASSIGN_OR_RETURN(body_, file_.read(at_, static_cast<std::size_t>(message->body_size)));
    at_ += message->body_size;
    return std::optional<Message>(*std::move(message));
  }

  // The field whose values the dictionary holds.
  static const Field* with_dictionary(const std::vector<Field>& fields, std::int64_t id) {
    for (const Field& field : fields) {
      if (field.dictionary == id) return &field;
      if (const Field* const below = with_dictionary(field.children, id)) return below;
    }
    return nullptr;
  }

  // Returns false at the end.
  Result<bool> next_batch() {
    columns_.clear();
    rows_ = in_batch_ = 0;
    for (;;) {
      ASSIGN_OR_RETURN(const auto message, next_message());
      if (!message) return false;
      if (message->kind == Message::Kind::dictionary) {
        TRY(keep_dictionary(*message));
      } else if (message->kind == Message::Kind::batch) {
        TRY(take_batch(message->batch));
        return true;
      }
    }
  }

  Result<void> take_batch(const Batch& batch) {
    Taker taker(batch, body_);
    for (const Field& field : fields_) {
      ASSIGN_OR_RETURN(Column column, taker.column(field));
      if (column.length < batch.rows) return corrupt("a column is shorter than the batch");
      columns_.push_back(std::move(column));
    }
    if (!taker.done()) return corrupt("it has more columns than the schema");
    rows_ = fields_.empty() ? 0 : batch.rows;
    return {};
  }

  Result<void> keep_dictionary(const Message& message) {
    const Field* const field = with_dictionary(fields_, message.dictionary);
    if (field == nullptr) return corrupt("a dictionary of no column");
    if (!field->children.empty()) {
      return Error{Code::unsupported, "dictionaries of lists are not read"};
    }
    Dictionary& kept = dictionaries_[message.dictionary];
    kept.body = std::move(body_);
    Taker taker(message.batch, kept.body);
    ASSIGN_OR_RETURN(kept.column, taker.column(*field, true));
    return {};
  }

  InputFile file_;
  std::string name_;
  std::uint64_t at_ = 0;
  std::vector<Field> fields_{};
  Dictionaries dictionaries_{};
  std::string body_{};
  std::vector<Column> columns_{};
  std::uint64_t rows_ = 0;
  std::uint64_t in_batch_ = 0;
  std::uint64_t row_ = 0;
};

}  // namespace
}  // namespace arrow

Result<std::unique_ptr<RowSource>> open_arrow(InputFile file, const std::string& name) {
  auto rows = std::make_unique<arrow::ArrowRows>(std::move(file), name);
  TRY(rows->begin());
  return std::unique_ptr<RowSource>(std::move(rows));
}

Result<std::unique_ptr<RowSource>> open_arrow(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(InputFile file, InputFile::open(path));
  return open_arrow(std::move(file), path.string());
}

}  // namespace assay::dataset
