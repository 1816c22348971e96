#include "interchange/write/parquet_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "base/version.h"

namespace assay::interchange {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int64_t kPagesOfAGroup = 16;

// The numbers are the format's: parquet.thrift.
enum class Physical : std::uint8_t { boolean = 0, int32 = 1, int64 = 2, real = 5, bytes = 6 };
constexpr std::int64_t kPlain = 0;
constexpr std::int64_t kRle = 3;
constexpr std::int64_t kDictionary = 8;
constexpr std::int64_t kDataPage = 0;
constexpr std::int64_t kDictionaryPage = 2;
constexpr std::int64_t kOptional = 1;

struct ParquetKind {
  char arrow = 0;
  std::size_t bytes = 0;  // of a value in memory
  Physical physical{};
  std::optional<std::int64_t> converted{};
};
constexpr std::array<ParquetKind, 9> kParquetKinds = {{{'l', 8, Physical::int64, {}},
                                                       {'i', 4, Physical::int32, {}},
                                                       {'s', 2, Physical::int32, 16},
                                                       {'L', 8, Physical::int64, 14},
                                                       {'I', 4, Physical::int32, 13},
                                                       {'S', 2, Physical::int32, 12},
                                                       {'g', 8, Physical::real, {}},
                                                       {'b', 0, Physical::boolean, {}},
                                                       {'U', 0, Physical::bytes, 0}}};

// Words are texts, whatever numbers stand for them in memory.
const ParquetKind& kind_of(const Column& column) {
  const char wanted = column.words ? 'U' : column.format.front();
  const auto* const found = std::ranges::find(kParquetKinds, wanted, &ParquetKind::arrow);
  return found == kParquetKinds.end() ? kParquetKinds.back() : *found;
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Thrift's compact protocol: a struct is a value of its fields, added in ascending order.
class Struct {
 public:
  Struct& number(int id, std::int64_t value, bool wide = false) {
    head(id, wide ? 6 : 5);
    const auto bits = static_cast<std::uint64_t>(value);
    put_varint(text_, (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    return *this;
  }
  Struct& wide(int id, std::int64_t value) { return number(id, value, true); }
  Struct& text(int id, std::string_view value) {
    head(id, 8);
    put_varint(text_, value.size());
    text_ += value;
    return *this;
  }
  Struct& inner(int id, const Struct& value) {
    head(id, 12);
    text_ += value.done();
    return *this;
  }
  // `items` are written already; `type` is that of each.
  Struct& list(int id, int type, const std::vector<std::string>& items) {
    head(id, 9);
    if (items.size() < 15) {
      text_ += static_cast<char>(items.size() << 4 | static_cast<std::size_t>(type));
    } else {
      text_ += static_cast<char>(0xF0 | type);
      put_varint(text_, items.size());
    }
    for (const std::string& item : items) text_ += item;
    return *this;
  }
  std::string done() const { return text_ + '\0'; }

 private:
  void head(int id, int type) {
    text_ += static_cast<char>((id - last_) << 4 | type);  // ids here are less than 15 apart
    last_ = id;
  }
  std::string text_{};
  int last_ = 0;
};

constexpr int kThriftNumber = 5;
constexpr int kThriftText = 8;
constexpr int kThriftStruct = 12;

bool there(const Column& column, std::int64_t row) {
  return column.valid.empty() ||
         (column.valid[static_cast<std::size_t>(row / 8)] >> (row % 8) & 1) != 0;
}

template <typename T>
T value_of(const Column& column, std::int64_t row) {
  T out{};
  const auto* const bytes = reinterpret_cast<const char*>(column.values.data());
  std::memcpy(&out, bytes + static_cast<std::size_t>(row) * sizeof out, sizeof out);
  return out;
}

std::string_view text_of(const Column& column, std::int64_t row) {
  const auto* const bytes = reinterpret_cast<const char*>(column.values.data());
  const auto at = static_cast<std::size_t>(row);
  const std::int64_t from = column.offsets[at];
  return {bytes + from, static_cast<std::size_t>(column.offsets[at + 1] - from)};
}

void put_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

void put_text(std::string& out, std::string_view text) {
  put_u32(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// Whether each row's value is there, one bit each: Arrow's bits have Parquet's order.
void put_levels(std::string& out, const Column& column, std::int64_t from, std::int64_t to) {
  std::string levels;
  const auto rows = static_cast<std::uint64_t>(to - from);
  if (column.valid.empty()) {
    put_varint(levels, rows << 1);
    levels += '\1';
  } else {
    const std::uint64_t groups = (rows + 7) / 8;
    put_varint(levels, groups << 1 | 1);
    levels.append(reinterpret_cast<const char*>(column.valid.data()) + from / 8, groups);
  }
  put_text(out, levels);
}

void put_bits(std::string& out, const Column& column, std::int64_t from, std::int64_t to) {
  const auto* const bits = reinterpret_cast<const std::uint8_t*>(column.values.data());
  std::vector<std::uint8_t> packed;
  std::int64_t count = 0;
  for (std::int64_t row = from; row < to; ++row) {
    if (!there(column, row)) continue;
    Column::set_bit(packed, count++, (bits[row / 8] >> (row % 8) & 1) != 0);
  }
  out.append(reinterpret_cast<const char*>(packed.data()), packed.size());
}

// Numbers of words, as runs of one number each.
void put_words(std::string& out, const Column& column, std::int64_t from, std::int64_t to) {
  const auto words = static_cast<std::uint64_t>(column.words->rows);
  const int width = std::max(1, static_cast<int>(std::bit_width(words - 1)));
  out += static_cast<char>(width);
  std::int16_t now = 0;
  std::uint64_t count = 0;
  const auto end_run = [&] {
    if (count == 0) return;
    put_varint(out, count << 1);
    for (int bit = 0; bit < width; bit += 8) out += static_cast<char>(now >> bit);
    count = 0;
  };
  for (std::int64_t row = from; row < to; ++row) {
    if (!there(column, row)) continue;
    const auto word = value_of<std::int16_t>(column, row);
    if (word != now) end_run();
    now = word;
    ++count;
  }
  end_run();
}

// Parquet's small numbers are 32 bits wide, with their own sign.
void put_number(std::string& out, const Column& column, std::int64_t row, const ParquetKind& kind) {
  if (kind.arrow == 's') {
    put_u32(out, static_cast<std::uint32_t>(value_of<std::int16_t>(column, row)));
  } else if (kind.arrow == 'S') {
    put_u32(out, value_of<std::uint16_t>(column, row));
  } else {
    const auto* const bytes = reinterpret_cast<const char*>(column.values.data());
    out.append(bytes + static_cast<std::size_t>(row) * kind.bytes, kind.bytes);
  }
}

std::string page_of(const Column& column, std::int64_t from, std::int64_t to) {
  std::string out;
  put_levels(out, column, from, to);
  const ParquetKind& kind = kind_of(column);
  if (column.words) {
    put_words(out, column, from, to);
  } else if (kind.physical == Physical::boolean) {
    put_bits(out, column, from, to);
  } else {
    for (std::int64_t row = from; row < to; ++row) {
      if (!there(column, row)) continue;
      if (kind.physical == Physical::bytes) {
        put_text(out, text_of(column, row));
      } else {
        put_number(out, column, row, kind);
      }
    }
  }
  return out;
}

void put_page(std::string& out, std::int64_t type, int field, const Struct& about,
              const std::string& page) {
  const auto size = static_cast<std::int64_t>(page.size());
  out += Struct().number(1, type).number(2, size).number(3, size).inner(field, about).done();
  out += page;
}

// Appends a column's pages of a row group; returns what the footer says of them.
std::string put_chunk(std::string& out, const Column& column, std::int64_t from, std::int64_t to,
                      std::int64_t rows_of_a_page) {
  const auto begin = static_cast<std::int64_t>(out.size());
  if (column.words) {
    std::string words;
    for (std::int64_t i = 0; i < column.words->rows; ++i)
      put_text(words, text_of(*column.words, i));
    put_page(out, kDictionaryPage, 7, Struct().number(1, column.words->rows).number(2, kPlain),
             words);
  }
  const auto data = static_cast<std::int64_t>(out.size());
  const std::int64_t encoding = column.words ? kDictionary : kPlain;
  for (std::int64_t at = from; at < to; at += rows_of_a_page) {
    const std::int64_t until = std::min(to, at + rows_of_a_page);
    put_page(out, kDataPage, 5,
             Struct().number(1, until - at).number(2, encoding).number(3, kRle).number(4, kRle),
             page_of(column, at, until));
  }
  const std::int64_t size = static_cast<std::int64_t>(out.size()) - begin;
  std::vector<std::string> encodings;
  for (const std::int64_t one : {kPlain, kRle, kDictionary}) {
    if (one != kDictionary || column.words)
      put_varint(encodings.emplace_back(), static_cast<std::uint64_t>(one) << 1);
  }
  std::string path;
  put_varint(path, column.name.size());
  path += column.name;
  Struct meta;
  meta.number(1, static_cast<std::int64_t>(kind_of(column).physical))
      .list(2, kThriftNumber, encodings)
      .list(3, kThriftText, {path})
      .number(4, 0)  // not compressed
      .wide(5, to - from)
      .wide(6, size)
      .wide(7, size)
      .wide(9, data);
  if (column.words) meta.wide(11, begin);
  return Struct().wide(2, begin).inner(3, meta).done();
}

std::vector<std::string> parquet_schema(const Columns& table) {
  std::vector<std::string> out;
  out.push_back(Struct()
                    .text(4, "schema")
                    .number(5, static_cast<std::int64_t>(table.columns().size()))
                    .done());
  for (const auto& column : table.columns()) {
    const ParquetKind& kind = kind_of(*column);
    Struct element;
    element.number(1, static_cast<std::int64_t>(kind.physical))
        .number(3, kOptional)
        .text(4, column->name);
    if (kind.converted) element.number(6, *kind.converted);
    out.push_back(element.done());
  }
  return out;
}

}  // namespace

std::string write_parquet(const Columns& table, std::int64_t rows_of_a_page) {
  std::string out(kMagic);
  std::vector<std::string> groups;
  const std::int64_t rows_of_a_group = rows_of_a_page * kPagesOfAGroup;
  for (std::int64_t from = 0; from < table.rows(); from += rows_of_a_group) {
    const std::int64_t to = std::min(table.rows(), from + rows_of_a_group);
    const auto begin = static_cast<std::int64_t>(out.size());
    std::vector<std::string> chunks;
    for (const auto& column : table.columns()) {
      chunks.push_back(put_chunk(out, *column, from, to, rows_of_a_page));
    }
    groups.push_back(Struct()
                         .list(1, kThriftStruct, chunks)
                         .wide(2, static_cast<std::int64_t>(out.size()) - begin)
                         .wide(3, to - from)
                         .done());
  }
  const std::string footer = Struct()
                                 .number(1, 1)
                                 .list(2, kThriftStruct, parquet_schema(table))
                                 .wide(3, table.rows())
                                 .list(4, kThriftStruct, groups)
                                 .text(6, format("Assay {}", version()))
                                 .done();
  out += footer;
  put_u32(out, static_cast<std::uint32_t>(footer.size()));
  out += kMagic;
  return out;
}

}  // namespace assay::interchange
