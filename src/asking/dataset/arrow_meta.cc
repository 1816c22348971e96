#include "dataset/arrow_meta.h"

#include <cstring>

#include "base/format.h"

namespace assay::dataset::arrow {
namespace {

constexpr int kArrowDepthMax = 64;
constexpr std::size_t kArrowFieldsMax = 100'000;
constexpr std::int32_t kItemMax = 1 << 24;  // bytes of a value, items of a list of fixed size

// Thrown inside this file only.
struct Broken {
  Error error{};
};

[[noreturn]] void broken(std::string what) {
  throw Broken{invalid("an Arrow message is broken: " + what)};
}

// A table of a flatbuffer, by the numbers of its fields.
class Table {
 public:
  static Table root(std::string_view bytes) { return {bytes, at<std::uint32_t>(bytes, 0)}; }

  template <typename Number>
  Number number(unsigned field, Number fallback) const {
    const std::size_t where = place(field);
    return where == 0 ? fallback : at<Number>(bytes_, where);
  }
  bool has(unsigned field) const { return place(field) != 0; }
  std::optional<Table> table(unsigned field) const {
    const std::size_t where = place(field);
    if (where == 0) return std::nullopt;
    return Table(bytes_, target(where));
  }
  std::string text(unsigned field) const {
    const std::size_t where = place(field);
    if (where == 0) return {};
    const std::size_t begin = target(where);
    const std::size_t size = at<std::uint32_t>(bytes_, begin);
    return std::string(part(begin + 4, size));
  }
  // The bytes of a vector of structs of `size` bytes each.
  std::string_view structs(unsigned field, std::size_t size) const {
    const std::size_t where = place(field);
    if (where == 0) return {};
    const std::size_t begin = target(where);
    const std::uint64_t count = at<std::uint32_t>(bytes_, begin);
    return part(begin + 4, count * size);
  }
  std::vector<Table> tables(unsigned field) const {
    const std::string_view offsets = structs(field, 4);
    std::vector<Table> out;
    for (std::size_t i = 0; i < offsets.size(); i += 4) {
      out.emplace_back(bytes_,
                       target(static_cast<std::size_t>(offsets.data() - bytes_.data()) + i));
    }
    return out;
  }

  Table(std::string_view bytes, std::size_t begin) : bytes_(bytes), begin_(begin) {
    const std::int64_t fields = static_cast<std::int64_t>(begin) - at<std::int32_t>(bytes, begin);
    if (fields < 0) broken("a table lies outside");
    fields_ = static_cast<std::size_t>(fields);
    fields_size_ = at<std::uint16_t>(bytes, fields_);
  }

  template <typename Number>
  static Number at(std::string_view bytes, std::size_t where) {
    Number value{};
    if (where > bytes.size() || bytes.size() - where < sizeof(value)) broken("it is cut off");
    std::memcpy(&value, bytes.data() + where, sizeof(value));
    return value;
  }

 private:
  // Where a field's value is; 0: it has none.
  std::size_t place(unsigned field) const {
    const std::size_t entry = 4 + 2 * std::size_t{field};
    if (entry + 2 > fields_size_) return 0;
    const std::size_t offset = at<std::uint16_t>(bytes_, fields_ + entry);
    return offset == 0 ? 0 : begin_ + offset;
  }
  std::size_t target(std::size_t where) const { return where + at<std::uint32_t>(bytes_, where); }
  std::string_view part(std::size_t begin, std::uint64_t size) const {
    if (begin > bytes_.size() || size > bytes_.size() - begin) broken("a part lies outside");
    return bytes_.substr(begin, static_cast<std::size_t>(size));
  }

  std::string_view bytes_;
  std::size_t begin_ = 0;
  std::size_t fields_ = 0;
  std::size_t fields_size_ = 0;
};

// The numbers of Schema.fbs's Type.
enum class Type : std::uint8_t {
  null = 1,
  integer = 2,
  floating = 3,
  binary = 4,
  utf8 = 5,
  boolean = 6,
  decimal = 7,
  date = 8,
  time = 9,
  timestamp = 10,
  list = 12,
  structure = 13,
  fixed_bytes = 15,
  fixed_list = 16,
  map = 17,
  duration = 18,
  large_binary = 19,
  large_utf8 = 20,
  large_list = 21,
};

[[noreturn]] void unsupported(const Field& field, std::string_view what) {
  throw Broken{
      Error{Code::unsupported,
            format("column '{}': {} are not read; write the data as Parquet", field.name, what)}};
}

void number_field(Field& field, std::uint32_t width, parquet::Logical logical) {
  using parquet::Physical;
  field.layout = Layout::number;
  field.width = width;
  field.value.physical = width == 8 ? Physical::int64 : Physical::int32;
  field.value.logical = logical;
}

void integer(const Table& type, std::uint32_t& width, bool& is_signed) {
  const auto bits = type.number<std::int32_t>(0, 0);
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) broken("an integer of odd size");
  width = static_cast<std::uint32_t>(bits) / 8;
  is_signed = type.number<std::uint8_t>(1, 0) != 0;
}

// Seconds have no counterpart in Parquet; milliseconds, microseconds and nanoseconds do.
parquet::Logical unit_of(std::int16_t unit, parquet::Logical milliseconds, const Field& field) {
  if (unit < 1 || unit > 3) unsupported(field, "instants in seconds");
  return static_cast<parquet::Logical>(static_cast<int>(milliseconds) + unit - 1);
}

void floating(const Table& type, Field& field) {
  using parquet::Physical;
  const auto precision = type.number<std::int16_t>(0, 0);
  field.layout = Layout::number;
  if (precision == 0) {
    field.width = 2;
    field.value.size = 2;
    field.value.physical = Physical::fixed_bytes;
    field.value.logical = parquet::Logical::float16;
  } else {
    field.width = precision == 1 ? 4 : 8;
    field.value.physical = precision == 1 ? Physical::float32 : Physical::float64;
  }
}

void bytes(Field& field, std::uint32_t width, bool is_text) {
  field.layout = Layout::bytes;
  field.width = width;
  field.value.physical = parquet::Physical::byte_array;
  if (is_text) field.value.logical = parquet::Logical::text;
}

void instants(Type kind, const Table& type, Field& field) {
  using parquet::Logical;
  if (kind == Type::date) {
    const bool days = type.number<std::int16_t>(0, 1) == 0;
    return number_field(field, days ? 4 : 8, days ? Logical::date : Logical::timestamp_ms);
  }
  if (kind == Type::time) {
    const auto bits = type.number<std::int32_t>(1, 32);
    const Logical unit = unit_of(type.number<std::int16_t>(0, 1), Logical::time_ms, field);
    return number_field(field, bits == 64 ? 8 : 4, unit);
  }
  number_field(field, 8, unit_of(type.number<std::int16_t>(0, 0), Logical::timestamp_ms, field));
}

void nested_field(Type kind, const Table& type, Field& field) {
  const bool one = kind != Type::structure;
  if (one && field.children.size() != 1) broken("a list without the one kind of its items");
  if (kind == Type::structure) {
    field.layout = Layout::structure;
  } else if (kind == Type::fixed_list) {
    field.layout = Layout::fixed_list;
    const auto size = type.number<std::int32_t>(0, 0);
    if (size < 0 || size > kItemMax) broken("a list of odd length");
    field.size = static_cast<std::uint32_t>(size);
  } else {
    field.layout = Layout::list;
    field.width = kind == Type::large_list ? 8 : 4;
    field.is_map = kind == Type::map;
    if (!field.is_map) return;
    const Field& entry = field.children.front();
    if (entry.layout != Layout::structure || entry.children.size() != 2) broken("an odd map");
  }
}

void understand(Type kind, const Table& type, Field& field) {
  using parquet::Logical;
  switch (kind) {
    case Type::null:
      return;
    case Type::integer: {
      std::uint32_t width = 0;
      integer(type, width, field.is_signed);
      return number_field(field, width, field.is_signed ? Logical::none : Logical::unsigned_int);
    }
    case Type::floating:
      return floating(type, field);
    case Type::boolean:
      field.layout = Layout::boolean;
      return;
    case Type::binary:
    case Type::utf8:
      return bytes(field, 4, kind == Type::utf8);
    case Type::large_binary:
    case Type::large_utf8:
      return bytes(field, 8, kind == Type::large_utf8);
    case Type::fixed_bytes: {
      const auto size = type.number<std::int32_t>(0, 0);
      if (size < 1 || size > kItemMax) broken("bytes of odd size");
      field.layout = Layout::number;
      field.width = static_cast<std::uint32_t>(size);
      field.value.physical = parquet::Physical::byte_array;
      return;
    }
    case Type::date:
    case Type::time:
    case Type::timestamp:
      return instants(kind, type, field);
    case Type::duration:
      return number_field(field, 8, Logical::none);
    case Type::list:
    case Type::large_list:
    case Type::map:
    case Type::fixed_list:
    case Type::structure:
      return nested_field(kind, type, field);
    case Type::decimal:
      unsupported(field, "decimal numbers");
  }
  unsupported(field, "values of this type (views, unions, runs)");
}

Field field_of(const Table& table, int depth, std::size_t& seen) {
  if (depth > kArrowDepthMax || ++seen > kArrowFieldsMax) broken("it nests too deeply");
  Field field{.name = table.text(0)};
  for (const Table& child : table.tables(5)) {
    field.children.push_back(field_of(child, depth + 1, seen));
  }
  const auto type = table.table(3);
  if (!type) broken("a column without a type");
  understand(static_cast<Type>(table.number<std::uint8_t>(2, 0)), *type, field);
  if (const auto dictionary = table.table(4)) {
    field.dictionary = dictionary->number<std::int64_t>(0, 0);
    field.place_width = 4;
    if (const auto index = dictionary->table(1)) {
      integer(*index, field.place_width, field.place_signed);
    }
  }
  return field;
}

std::uint64_t size_of(std::int64_t value) {
  if (value < 0) broken("a size below zero");
  return static_cast<std::uint64_t>(value);
}

Batch batch_of(const Table& table) {
  if (table.has(3)) {
    throw Broken{Error{Code::unsupported,
                       "compressed Arrow batches are not read; write the data as Parquet"}};
  }
  Batch out{.rows = size_of(table.number<std::int64_t>(0, 0))};
  const std::string_view nodes = table.structs(1, 16);
  for (std::size_t at = 0; at < nodes.size(); at += 16) {
    out.lengths.push_back(size_of(Table::at<std::int64_t>(nodes, at)));
  }
  const std::string_view buffers = table.structs(2, 16);
  for (std::size_t at = 0; at < buffers.size(); at += 16) {
    out.buffers.push_back({size_of(Table::at<std::int64_t>(buffers, at)),
                           size_of(Table::at<std::int64_t>(buffers, at + 8))});
  }
  return out;
}

Message message_of(std::string_view bytes) {
  const Table root = Table::root(bytes);
  Message out{.body_size = size_of(root.number<std::int64_t>(3, 0))};
  const auto header = root.table(2);
  if (!header) broken("it has no header");
  switch (root.number<std::uint8_t>(1, 0)) {
    case 1: {
      out.kind = Message::Kind::schema;
      if (header->number<std::int16_t>(0, 0) != 0) broken("its bytes are in big-endian order");
      std::size_t seen = 0;
      for (const Table& field : header->tables(1)) out.fields.push_back(field_of(field, 0, seen));
      break;
    }
    case 2: {
      out.kind = Message::Kind::dictionary;
      out.dictionary = header->number<std::int64_t>(0, 0);
      const auto batch = header->table(1);
      if (!batch) broken("a dictionary without values");
      if (header->number<std::uint8_t>(2, 0) != 0) {
        throw Broken{Error{Code::unsupported, "dictionaries that grow are not read"}};
      }
      out.batch = batch_of(*batch);
      break;
    }
    case 3:
      out.kind = Message::Kind::batch;
      out.batch = batch_of(*header);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace

Result<Message> parse_message(std::string_view bytes) {
  try {
    return message_of(bytes);
  } catch (const Broken& broken) {
    return broken.error;
  }
}

}  // namespace assay::dataset::arrow
