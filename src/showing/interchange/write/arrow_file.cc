#include "interchange/write/arrow_file.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/check.h"

namespace assay::interchange {
namespace arrow {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr std::size_t kAligned = 8;

template <typename T>
std::string bytes_of(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

void pad(std::string& out, std::size_t to = kAligned) {
  while (out.size() % to != 0) out += '\0';
}

// A flatbuffer's table, text or vector, before its place is known.
class Flat {
 public:
  static Flat text(std::string_view value) {
    Flat out(Kind::text);
    out.bytes_ = value;
    return out;
  }
  // `items` are structs of 8 bytes' alignment, one behind the other.
  static Flat structs(std::size_t count, std::string items) {
    Flat out(Kind::structs);
    out.count_ = count;
    out.bytes_ = std::move(items);
    return out;
  }
  static Flat tables(std::vector<Flat> items) {
    Flat out(Kind::tables);
    for (Flat& item : items) out.parts_.push_back({0, {}, std::make_unique<Flat>(std::move(item))});
    return out;
  }
  Flat() : Flat(Kind::table) {}

  // Fields of a table, in ascending order of their ids.
  template <typename T>
  Flat& number(unsigned id, T value) {
    parts_.push_back({id, bytes_of(value), nullptr});
    return *this;
  }
  Flat& part(unsigned id, Flat value) {
    parts_.push_back({id, bytes_of(std::uint32_t{0}), std::make_unique<Flat>(std::move(value))});
    return *this;
  }

  // The whole buffer with this table as its root.
  std::string buffer() const {
    std::string out = bytes_of(std::uint32_t{0});
    point(out, 0, write(out));
    pad(out);
    return out;
  }

 private:
  enum class Kind : std::uint8_t { table, text, structs, tables };
  struct Part {
    unsigned id = 0;
    std::string bytes{};
    std::unique_ptr<Flat> behind{};  // what the bytes point at
  };

  explicit Flat(Kind kind) : kind_(kind) {}

  static void point(std::string& out, std::size_t from, std::size_t to) {
    out.replace(from, sizeof(std::uint32_t), bytes_of(static_cast<std::uint32_t>(to - from)));
  }

  // Appends it and all that it points at; returns its place.
  std::size_t write(std::string& out) const {
    if (kind_ == Kind::table) return write_table(out);
    if (kind_ == Kind::tables) return write_tables(out);
    pad(out, sizeof(std::uint32_t));
    // The first struct is aligned, behind the four bytes of their count.
    while (kind_ == Kind::structs && out.size() % kAligned != sizeof(std::uint32_t)) out += '\0';
    const std::size_t at = out.size();
    const std::size_t count = kind_ == Kind::text ? bytes_.size() : count_;
    out += bytes_of(static_cast<std::uint32_t>(count)) + bytes_;
    if (kind_ == Kind::text) out += '\0';
    return at;
  }

  std::size_t write_tables(std::string& out) const {
    pad(out, sizeof(std::uint32_t));
    const std::size_t at = out.size();
    out += bytes_of(static_cast<std::uint32_t>(parts_.size()));
    const std::size_t first = out.size();
    out.append(parts_.size() * sizeof(std::uint32_t), '\0');
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      point(out, first + i * sizeof(std::uint32_t), parts_[i].behind->write(out));
    }
    return at;
  }

  // Where the fields are stands in a table of its own, here right before them.
  std::size_t write_table(std::string& out) const {
    const std::size_t entries = parts_.empty() ? 0 : parts_.back().id + 1;
    std::vector<std::uint16_t> places(entries);
    std::size_t size = sizeof(std::int32_t);
    for (const Part& part : parts_) {
      size = (size + part.bytes.size() - 1) / part.bytes.size() * part.bytes.size();
      places[part.id] = static_cast<std::uint16_t>(size);
      size += part.bytes.size();
    }
    const std::size_t map = 2 * sizeof(std::uint16_t) + entries * sizeof(std::uint16_t);
    while ((out.size() + map) % kAligned != 0) out += '\0';
    out += bytes_of(static_cast<std::uint16_t>(map)) + bytes_of(static_cast<std::uint16_t>(size));
    for (const std::uint16_t place : places) out += bytes_of(place);
    const std::size_t at = out.size();
    out += bytes_of(static_cast<std::int32_t>(map));
    out.append(size - sizeof(std::int32_t), '\0');
    for (const Part& part : parts_) {
      out.replace(at + places[part.id], part.bytes.size(), part.bytes);
    }
    for (const Part& part : parts_) {
      if (part.behind) point(out, at + places[part.id], part.behind->write(out));
    }
    return at;
  }

  Kind kind_;
  std::size_t count_ = 0;
  std::string bytes_{};
  std::vector<Part> parts_{};
};

// The numbers below are those of Arrow's Schema.fbs, Message.fbs and File.fbs.
constexpr std::int16_t kVersion5 = 4;
enum class Header : std::uint8_t { schema = 1, dictionary = 2, batch = 3 };
enum class Type : std::uint8_t { integer = 2, floating = 3, boolean = 6, large_text = 20 };
constexpr std::int16_t kDouble = 2;

Flat integer(int bits, bool is_signed) {
  Flat out;
  out.number(0, std::int32_t{bits}).number(1, std::uint8_t{is_signed});
  return out;
}

std::pair<Type, Flat> type_of(std::string_view format) {
  switch (format.front()) {
    case 'l':
      return {Type::integer, integer(64, true)};
    case 'i':
      return {Type::integer, integer(32, true)};
    case 's':
      return {Type::integer, integer(16, true)};
    case 'L':
      return {Type::integer, integer(64, false)};
    case 'I':
      return {Type::integer, integer(32, false)};
    case 'S':
      return {Type::integer, integer(16, false)};
    case 'g': {
      Flat out;
      out.number(0, kDouble);
      return {Type::floating, std::move(out)};
    }
    case 'b':
      return {Type::boolean, Flat()};
    default:
      CHECK(format == "U");
      return {Type::large_text, Flat()};
  }
}

// `dictionary`: the number of the column's words, counted from 0.
Flat field_of(const Column& column, std::int64_t dictionary) {
  auto [type, about] = type_of(column.words ? column.words->format : column.format);
  Flat out;
  out.part(0, Flat::text(column.name))
      .number(1, std::uint8_t{1})
      .number(2, static_cast<std::uint8_t>(type))
      .part(3, std::move(about));
  if (column.words) {
    Flat encoding;
    encoding.number(0, dictionary).part(1, type_of(column.format).second);
    out.part(4, std::move(encoding));
  }
  out.part(5, Flat::tables({}));
  return out;
}

Flat arrow_schema(const Columns& table) {
  std::vector<Flat> fields;
  std::int64_t words = 0;
  for (const auto& column : table.columns()) {
    fields.push_back(field_of(*column, words));
    if (column->words) ++words;
  }
  Flat out;
  out.number(0, std::int16_t{0}).part(1, Flat::tables(std::move(fields)));
  return out;
}

// The buffers of columns with one number of rows, and the table that says where they are.
class Body {
 public:
  explicit Body(std::int64_t rows) : rows_(rows) {}

  void add(const Column& column) {
    nodes_ += bytes_of(column.rows) + bytes_of(column.nulls);
    ++columns_;
    put(column.valid.data(), column.nulls == 0 ? 0 : column.valid.size());
    if (column.format == "U") {
      put(column.offsets.data(), column.offsets.size() * sizeof(std::int64_t));
    }
    if (column.words && column.nulls > 0) return put_words(column);
    const bool bits = column.format == "b";
    put(column.values.data(),
        bits ? static_cast<std::size_t>((column.rows + 7) / 8) : column.bytes);
  }
  Flat batch() const {
    Flat out;
    out.number(0, rows_)
        .part(1, Flat::structs(columns_, nodes_))
        .part(2, Flat::structs(count_, buffers_));
    return out;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  // Some readers look a word up where it is absent too, so that its number must be one.
  void put_words(const Column& column) {
    std::vector<std::int16_t> all(static_cast<std::size_t>(column.rows));
    std::memcpy(all.data(), column.values.data(), column.bytes);
    for (std::int16_t& one : all) one = std::max<std::int16_t>(one, 0);
    put(all.data(), column.bytes);
  }
  void put(const void* from, std::size_t size) {
    buffers_ += bytes_of(static_cast<std::int64_t>(bytes_.size())) +
                bytes_of(static_cast<std::int64_t>(size));
    ++count_;
    if (size > 0) bytes_.append(static_cast<const char*>(from), size);
    pad(bytes_);
  }

  std::int64_t rows_;
  std::size_t columns_ = 0;
  std::size_t count_ = 0;
  std::string nodes_{};
  std::string buffers_{};
  std::string bytes_{};
};

// Appends a message; returns its Block for the footer.
std::string put_message(std::string& out, Header kind, Flat header, const std::string& body) {
  const std::size_t at = out.size();
  Flat message;
  message.number(0, kVersion5)
      .number(1, static_cast<std::uint8_t>(kind))
      .part(2, std::move(header))
      .number(3, static_cast<std::int64_t>(body.size()));
  const std::string meta = message.buffer();
  out += bytes_of(std::uint32_t{0xFFFFFFFF}) + bytes_of(static_cast<std::int32_t>(meta.size()));
  out += meta;
  const std::size_t head = out.size() - at;
  out += body;
  return bytes_of(static_cast<std::int64_t>(at)) + bytes_of(static_cast<std::int32_t>(head)) +
         bytes_of(std::int32_t{0}) + bytes_of(static_cast<std::int64_t>(body.size()));
}

std::string write(const Columns& table) {
  std::string out(kArrowMagic);
  pad(out);
  put_message(out, Header::schema, arrow_schema(table), {});
  std::string dictionaries;
  std::int64_t words = 0;
  Body rows(table.rows());
  for (const auto& column : table.columns()) {
    rows.add(*column);
    if (!column->words) continue;
    Body all(column->words->rows);
    all.add(*column->words);
    Flat dictionary;
    dictionary.number(0, words++).part(1, all.batch());
    dictionaries += put_message(out, Header::dictionary, std::move(dictionary), all.bytes());
  }
  const std::string batch = put_message(out, Header::batch, rows.batch(), rows.bytes());
  out += bytes_of(std::uint32_t{0xFFFFFFFF}) + bytes_of(std::uint32_t{0});
  Flat footer;
  footer.number(0, kVersion5)
      .part(1, arrow_schema(table))
      .part(2, Flat::structs(static_cast<std::size_t>(words), dictionaries))
      .part(3, Flat::structs(1, batch));
  const std::string meta = footer.buffer();
  out += meta;
  out += bytes_of(static_cast<std::int32_t>(meta.size()));
  out += kArrowMagic;
  return out;
}

}  // namespace
}  // namespace arrow

std::string write_arrow(const Columns& table) { return arrow::write(table); }

}  // namespace assay::interchange
