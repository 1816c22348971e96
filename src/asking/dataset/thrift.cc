#include "dataset/thrift.h"

namespace assay::dataset {

unsigned ThriftReader::take() {
  if (at_ >= bytes_.size()) failed_ = true;
  if (failed_) return 0;
  return static_cast<unsigned char>(bytes_[at_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const unsigned b = take();
    value |= std::uint64_t{b & 0x7F} << shift;
    if (b < 0x80) return value;
  }
  failed_ = true;
  return 0;
}

std::int64_t ThriftReader::read_int() {
  taken_ = true;
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

bool ThriftReader::read_bool() {
  taken_ = true;
  return type_ == Type::bool_true;
}

std::string_view ThriftReader::read_binary() {
  taken_ = true;
  const std::uint64_t size = varint();
  if (failed_ || size > bytes_.size() - at_) {
    failed_ = true;
    return {};
  }
  const std::string_view out = bytes_.substr(at_, size);
  at_ += size;
  return out;
}

std::uint64_t ThriftReader::list_head(Type& type) {
  const unsigned head = take();
  type = static_cast<Type>(head & 15);
  std::uint64_t count = head >> 4;
  if (count == 15) count = varint();
  // Each element needs at least one byte.
  if (count > bytes_.size() - at_) failed_ = true;
  return failed_ ? 0 : count;
}

void ThriftReader::skip(Type type) {
  if (failed_) return;
  switch (type) {
    case Type::bool_true:
    case Type::bool_false:
      break;
    case Type::byte:
      take();
      break;
    case Type::i16:
    case Type::i32:
    case Type::i64:
      varint();
      break;
    case Type::number:
      if (bytes_.size() - at_ < 8) {
        failed_ = true;
      } else {
        at_ += 8;
      }
      break;
    case Type::binary:
      read_binary();
      break;
    case Type::list:
    case Type::set: {
      if (++depth_ > kDepthMax) failed_ = true;
      Type element = Type::stop;
      const std::uint64_t count = list_head(element);
      const bool flag = element == Type::bool_true || element == Type::bool_false;
      for (std::uint64_t i = 0; i < count && !failed_; ++i) skip(flag ? Type::byte : element);
      --depth_;
      break;
    }
    case Type::map: {
      if (++depth_ > kDepthMax) failed_ = true;
      const std::uint64_t count = varint();
      if (count > bytes_.size() - at_) failed_ = true;
      const unsigned types = count > 0 ? take() : 0;
      for (std::uint64_t i = 0; i < count && !failed_; ++i) {
        skip(static_cast<Type>(types >> 4));
        skip(static_cast<Type>(types & 15));
      }
      --depth_;
      break;
    }
    case Type::structure:
      read_struct([](std::int16_t, Type) {});
      break;
    default:
      failed_ = true;
  }
}

}  // namespace assay::dataset
