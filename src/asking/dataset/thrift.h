// ThriftReader: values of Thrift's compact protocol, which Parquet's footers and page headers use.
// Every read is checked against the size of the input. After a broken input failed() is true and
// all further values are zero, so a caller checks once, at the end. One thread.
// github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::dataset {

class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    bool_true = 1,
    bool_false = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    number = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
  };

  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  std::size_t position() const { return at_; }

  // Reads a struct's fields: `field(id, type)` reads one; a field it does not read is skipped.
  template <typename Function>
  void read_struct(Function field) {
    if (++depth_ > kDepthMax) failed_ = true;
    std::int16_t id = 0;
    while (!failed_) {
      const unsigned head = take();
      const auto type = static_cast<Type>(head & 15);
      if (type == Type::stop) break;
      const auto step = static_cast<std::int16_t>(head >> 4);
      id = step == 0 ? static_cast<std::int16_t>(read_int()) : static_cast<std::int16_t>(id + step);
      taken_ = false;
      type_ = type;
      field(id, type);
      if (!taken_) skip(type);
      taken_ = false;
    }
    --depth_;
    taken_ = true;
  }
  // Reads a list's elements: `element(type)` must read or skip one.
  template <typename Function>
  void read_list(Function element) {
    Type type = Type::stop;
    const std::uint64_t count = list_head(type);
    for (std::uint64_t i = 0; i < count && !failed_; ++i) {
      type_ = type;
      taken_ = false;
      element(type);
      if (!taken_) skip(type);
    }
    taken_ = true;
  }

  // Reads an i16, i32 or i64.
  std::int64_t read_int();
  std::string_view read_binary();
  // A field's boolean is part of its type.
  bool read_bool();

 private:
  static constexpr int kDepthMax = 64;

  unsigned take();
  std::uint64_t varint();
  std::uint64_t list_head(Type& type);
  void skip(Type type);

  std::string_view bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool taken_ = false;
  Type type_ = Type::stop;
};

}  // namespace assay::dataset
