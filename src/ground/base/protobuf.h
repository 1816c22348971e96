// Protocol Buffers on the wire: the fields of a message, read in place and written to a string.
// What a field's number means is the caller's matter; fields of unknown numbers are skipped by not
// looking at them. Pure; any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/varint.h"

namespace assay {

struct ProtoField {
  enum class Form : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint64_t number = 0;
  Form form = Form::varint;
  std::uint64_t value = 0;   // varint, fixed32, fixed64
  std::string_view bytes{};  // a text, bytes, a message, or packed numbers
};

// Reads a message field by field; the views are into it.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : wire_(message) {}

  // There is no further field: the message ended, or is broken.
  bool done() const { return wire_.at_end() || broken(); }
  // A field was cut off, or has a form that does not exist.
  bool broken() const { return !wire_.good(); }

  ProtoField next() {
    ProtoField field;
    const std::uint64_t key = wire_.varint();
    field.number = key >> 3;
    switch (key & 7) {
      case 0:
        field.value = wire_.varint();
        break;
      case 1:
        field.form = ProtoField::Form::fixed64;
        field.value = fixed(8);
        break;
      case 2:
        field.form = ProtoField::Form::bytes;
        field.bytes = wire_.bytes(wire_.varint());
        break;
      case 5:
        field.form = ProtoField::Form::fixed32;
        field.value = fixed(4);
        break;
      default:  // groups, which no message of today has
        wire_.fail();
    }
    return field;
  }

 private:
  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view bytes = wire_.bytes(size);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());  // little-endian
    return value;
  }

  ByteReader wire_;
};

inline void put_proto_varint(std::string& out, std::uint64_t value) {
  char digits[kVarintMax];
  out.append(digits, static_cast<std::size_t>(put_varint(digits, value) - digits));
}
inline void put_proto_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_proto_varint(out, std::uint64_t{field} << 3);
  put_proto_varint(out, value);
}
// The head of a field of `size` bytes, which the caller appends.
inline void put_proto_head(std::string& out, std::uint32_t field, std::size_t size) {
  put_proto_varint(out, std::uint64_t{field} << 3 | 2);
  put_proto_varint(out, size);
}
inline void put_proto_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_proto_head(out, field, bytes.size());
  out += bytes;
}
// A text, which an absent field says too where it is empty.
inline void put_proto_text(std::string& out, std::uint32_t field, std::string_view text) {
  if (!text.empty()) put_proto_bytes(out, field, text);
}

}  // namespace assay
