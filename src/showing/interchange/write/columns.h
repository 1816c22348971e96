// Columns: a table in memory, laid out as Apache Arrow's C data interface asks, so that a
// reader of Arrow (pyarrow, pandas, polars, DuckDB) takes it without a copy and without a library
// of ours. https://arrow.apache.org/docs/format/CDataInterface.html
//
// Types: whole numbers, 64-bit floats, bits, text, and words (an enumeration: numbers of a small
// dictionary). A value may be absent. The number under an absent value is the type's least one, or
// a NaN, so that a reader of the bare buffer sees it too; for instants that is numpy's NaT.
//
// A table is built by one thread, and is read by any once it is shared. What was exported keeps the
// table alive until its reader releases it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The three structures and their names are the standard's.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace assay::interchange {

// What a reader of the bare buffer sees where a value is absent.
template <typename T>
constexpr T absent_value() {
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::quiet_NaN();
  } else {
    return std::numeric_limits<T>::min();
  }
}

// One column. `values` are its numbers, or the bytes of its texts; bits are packed as Arrow's.
struct Column {
  std::string name{};
  std::string format{};                 // Arrow's name of the type: "l" is a 64-bit whole number
  std::vector<std::uint64_t> values{};  // as bytes; words, so that they are aligned for every type
  std::size_t bytes = 0;                // used of `values`
  std::vector<std::int64_t> offsets{};  // of a text column: where each begins, and where all end
  std::vector<std::uint8_t> valid{};    // one bit a row, empty while no value is absent
  std::int64_t rows = 0;
  std::int64_t nulls = 0;
  std::unique_ptr<Column> words{};  // the dictionary of a column of words

  void append_bytes(const void* from, std::size_t count) {
    if (count == 0) return;  // then `from` may be null, which memcpy() does not take
    if (bytes + count > values.size() * sizeof(std::uint64_t)) grow(count);
    std::memcpy(reinterpret_cast<char*>(values.data()) + bytes, from, count);
    bytes += count;
  }
  void note(bool there) {
    if (!there && valid.empty()) all_valid();
    if (!valid.empty()) set_bit(valid, rows, there);
    nulls += there ? 0 : 1;
    ++rows;
  }
  static void set_bit(std::vector<std::uint8_t>& bits, std::int64_t row, bool value) {
    const auto byte = static_cast<std::size_t>(row / 8);
    if (byte >= bits.size()) bits.resize(byte + 1);
    if (value) bits[byte] = static_cast<std::uint8_t>(bits[byte] | 1U << (row % 8));
  }

 private:
  void grow(std::size_t count);
  void all_valid();
};

// Appends to a column of numbers; T is one of Arrow's fixed types.
template <typename T>
class Numbers {
 public:
  explicit Numbers(Column& column) : column_(&column) {}
  void add(T value) {
    column_->append_bytes(&value, sizeof value);
    column_->note(true);
  }
  void add_absent() {
    const T none = absent_value<T>();
    column_->append_bytes(&none, sizeof none);
    column_->note(false);
  }
  void add_if(bool there, T value) { there ? add(value) : add_absent(); }

 private:
  Column* column_;
};

class Bits {
 public:
  explicit Bits(Column& column) : column_(&column) {}
  void add(bool value);

 private:
  Column* column_;
};

class Texts {
 public:
  explicit Texts(Column& column) : column_(&column) {}
  // Bytes that are no UTF-8 become U+FFFD, which every reader accepts.
  void add(std::string_view text);

 private:
  Column* column_;
};

class Columns {
 public:
  // Every column gets as many values as every other one. The names are given once. The columns stay
  // where they are, so what appends to them may keep a reference.
  template <typename T>
  Numbers<T> numbers(std::string_view name) {
    return Numbers<T>(make(name, format_of<T>()));
  }
  Bits bits(std::string_view name) { return Bits(make(name, "b")); }
  Texts texts(std::string_view name);
  // Numbers 0, 1, … of `words`.
  Numbers<std::int16_t> words(std::string_view name, const std::vector<std::string>& words);

  std::int64_t rows() const { return columns_.empty() ? 0 : columns_.front()->rows; }
  const std::vector<std::unique_ptr<Column>>& columns() const { return columns_; }
  const Column* find(std::string_view name) const;

 private:
  template <typename T>
  static const char* format_of() {
    if constexpr (std::is_same_v<T, std::int64_t>) return "l";
    if constexpr (std::is_same_v<T, std::int32_t>) return "i";
    if constexpr (std::is_same_v<T, std::int16_t>) return "s";
    if constexpr (std::is_same_v<T, std::uint64_t>) return "L";
    if constexpr (std::is_same_v<T, std::uint32_t>) return "I";
    if constexpr (std::is_same_v<T, std::uint16_t>) return "S";
    if constexpr (std::is_same_v<T, double>) return "g";
  }
  Column& make(std::string_view name, std::string_view format);

  std::vector<std::unique_ptr<Column>> columns_{};
};

// The table as one record batch, in a stream of one batch. Each output is the caller's, to release.
void export_schema(const std::shared_ptr<const Columns>& table, ArrowSchema& out);
void export_array(const std::shared_ptr<const Columns>& table, ArrowArray& out);
void export_stream(std::shared_ptr<const Columns> table, ArrowArrayStream& out);

}  // namespace assay::interchange
