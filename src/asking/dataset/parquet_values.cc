#include "dataset/parquet_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "dataset/binary_cell.h"
#include "dataset/chunks.h"

namespace assay::dataset::parquet {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they stand");

Error corrupt_page(std::string_view what) {
  return Error{Code::corrupt, format("not a sound Parquet file: {}", what)};
}

template <typename T>
T load(std::string_view bytes) {
  T out{};
  std::memcpy(&out, bytes.data(), sizeof(T));
  return out;
}

bool varint(std::string_view& bytes, std::uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return false;
    const auto b = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    out |= std::uint64_t{b & 0x7FU} << shift;
    if (b < 0x80) return true;
  }
  return false;
}

std::uint64_t unzigzag(std::uint64_t value) { return value >> 1 ^ (~(value & 1) + 1); }

// Returns value i of `width` bits each, counted from the lowest bit.
std::uint64_t packed(std::string_view bytes, std::uint64_t i, unsigned width) {
  std::uint64_t out = 0;
  for (unsigned got = 0; got < width;) {
    const std::uint64_t bit = i * width + got;
    const auto byte = static_cast<unsigned char>(bytes[bit / 8]);
    const auto shift = static_cast<unsigned>(bit % 8);
    const unsigned some = std::min(8 - shift, width - got);
    out |= (std::uint64_t{byte} >> shift & ((1U << some) - 1)) << got;
    got += some;
  }
  return out;
}

// Decodes the delta-packed numbers at the front of `bytes` and removes them. Sums wrap around, as
// the format requires.
Result<std::vector<std::uint64_t>> deltas(std::string_view& bytes, std::uint64_t count) {
  const Error broken = corrupt_page("a page of deltas is broken");
  std::uint64_t block = 0;
  std::uint64_t parts = 0;
  std::uint64_t total = 0;
  std::uint64_t first = 0;
  if (!varint(bytes, block) || !varint(bytes, parts) || !varint(bytes, total) ||
      !varint(bytes, first)) {
    return broken;
  }
  constexpr std::uint64_t kBlockMax = 1 << 20;
  if (parts == 0 || block > kBlockMax || parts > block || block % parts != 0 ||
      block / parts % 8 != 0 || total != count) {
    return broken;
  }
  std::vector<std::uint64_t> out;
  out.reserve(count);
  std::uint64_t value = unzigzag(first);
  if (count > 0) out.push_back(value);
  const std::uint64_t each = block / parts;
  while (out.size() < count) {
    std::uint64_t least = 0;
    if (!varint(bytes, least) || bytes.size() < parts) return broken;
    least = unzigzag(least);
    const std::string_view widths = bytes.substr(0, parts);
    bytes.remove_prefix(parts);
    for (std::uint64_t p = 0; p < parts && out.size() < count; ++p) {
      const auto width = static_cast<unsigned char>(widths[p]);
      if (width > 64 || bytes.size() < each / 8 * width) return broken;
      for (std::uint64_t i = 0; i < each && out.size() < count; ++i) {
        value += least + packed(bytes, i, width);
        out.push_back(value);
      }
      bytes.remove_prefix(each / 8 * width);
    }
  }
  return out;
}

void append_plain(std::string& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
}

// Writes days since 1970 as a date (Howard Hinnant, "chrono-compatible low-level date algorithms").
std::string date_text(std::int64_t days) {
  constexpr std::int64_t kEra = 146097;  // days in 400 years
  const std::int64_t eras = days / kEra - (days % kEra < 0 ? 1 : 0);
  // The rest comes first: a broken file can hold days to which nothing can be added.
  const std::int64_t since_0000 = days % kEra + (days % kEra < 0 ? kEra : 0) + 719468;
  const std::int64_t era = eras + since_0000 / kEra;
  const auto doe = static_cast<std::uint64_t>(since_0000 % kEra);
  const std::uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::uint64_t mp = (5 * doy + 2) / 153;
  const std::uint64_t day = doy - (153 * mp + 2) / 5 + 1;
  const std::uint64_t month = mp < 10 ? mp + 3 : mp - 9;
  const std::int64_t year = static_cast<std::int64_t>(yoe) + era * 400 + (month <= 2 ? 1 : 0);
  return format("{:04}-{:02}-{:02}", year, month, day);
}

// Writes a time of day; a second has `units`.
std::string time_text(std::int64_t value, std::int64_t units) {
  const std::int64_t seconds = value / units;
  std::string out = format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  const std::int64_t rest = value % units * (1'000'000'000 / units);
  if (rest == 0) return out;
  return out + (rest % 1000 == 0 ? format(".{:06}", rest / 1000) : format(".{:09}", rest));
}

std::string stamp_text(std::int64_t value, std::int64_t units) {
  const std::int64_t a_day = units * 86400;
  const std::int64_t rest = value % a_day;
  const bool before = rest < 0;  // a time before 1970 counts from the midnight before it
  return date_text(value / a_day - (before ? 1 : 0)) + "T" +
         time_text(before ? rest + a_day : rest, units);
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Writes a big-endian two's complement number of any length; `scale` digits follow the point.
std::string decimal_text(std::string_view bytes, std::int32_t scale) {
  std::vector<unsigned> big;
  const bool negative = !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    big.push_back(negative ? 255U - byte : byte);
  }
  if (negative) {
    for (std::size_t i = big.size(); i-- > 0;) {
      if (++big[i] < 256) break;
      big[i] = 0;
    }
  }
  std::string digits;
  while (std::any_of(big.begin(), big.end(), [](unsigned b) { return b != 0; })) {
    unsigned rest = 0;
    for (unsigned& byte : big) {
      const unsigned value = rest * 256 + byte;
      byte = value / 10;
      rest = value % 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  const auto after = static_cast<std::size_t>(std::clamp(scale, 0, 1000));
  while (digits.size() <= after) digits += '0';
  std::reverse(digits.begin(), digits.end());
  if (after > 0) digits.insert(digits.size() - after, 1, '.');
  return (negative ? "-" : "") + digits;
}

std::string big_endian(std::uint64_t value) {
  std::string out(8, '\0');
  for (std::size_t i = 8; i-- > 0; value >>= 8) out[i] = static_cast<char>(value & 255);
  return out;
}

Json whole_value(const Node& leaf, std::int64_t value, std::uint64_t as_unsigned) {
  switch (leaf.logical) {
    case Logical::unsigned_int:
      return as_unsigned;
    case Logical::date:
      return date_text(value);
    case Logical::time_ms:
      return time_text(value, 1000);
    case Logical::time_us:
      return time_text(value, 1'000'000);
    case Logical::time_ns:
      return time_text(value, 1'000'000'000);
    case Logical::timestamp_ms:
      return stamp_text(value, 1000);
    case Logical::timestamp_us:
      return stamp_text(value, 1'000'000);
    case Logical::timestamp_ns:
      return stamp_text(value, 1'000'000'000);
    case Logical::decimal:
      return decimal_text(big_endian(static_cast<std::uint64_t>(value)), leaf.scale);
    default:
      return value;
  }
}

}  // namespace

std::size_t plain_size(const Node& leaf) {
  switch (leaf.physical) {
    case Physical::int32:
    case Physical::float32:
      return 4;
    case Physical::int64:
    case Physical::float64:
      return 8;
    case Physical::int96:
      return 12;
    case Physical::fixed_bytes:
      return static_cast<std::size_t>(leaf.size);
    default:
      return 0;
  }
}

bool take_plain(const Node& leaf, std::string_view& bytes, std::string_view& value) {
  std::size_t size = plain_size(leaf);
  if (size == 0) {
    if (bytes.size() < 4) return false;
    size = load<std::uint32_t>(bytes);
    bytes.remove_prefix(4);
  }
  if (size > bytes.size()) return false;
  value = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

Result<std::string> plain_from_delta_binary(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count) {
  const std::size_t size = plain_size(leaf);
  if (size != 4 && size != 8) return corrupt_page("deltas of what is not a number");
  ASSIGN_OR_RETURN(const auto values, deltas(bytes, count));
  std::string out;
  out.reserve(values.size() * size);
  for (const std::uint64_t value : values) {
    out.append(reinterpret_cast<const char*>(&value), size);
  }
  return out;
}

Result<std::string> plain_from_delta_length(std::string_view bytes, std::uint64_t count) {
  ASSIGN_OR_RETURN(const auto lengths, deltas(bytes, count));
  std::string out;
  for (const std::uint64_t length : lengths) {
    if (length > bytes.size()) return corrupt_page("a text is longer than its page");
    append_plain(out, bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return out;
}

Result<std::string> plain_from_delta_text(const Node& leaf, std::string_view bytes,
                                          std::uint64_t count) {
  // Values of one fixed length stand without it when they are plain.
  const std::size_t fixed = leaf.physical == Physical::fixed_bytes ? plain_size(leaf) : 0;
  ASSIGN_OR_RETURN(const auto shared, deltas(bytes, count));
  ASSIGN_OR_RETURN(const auto lengths, deltas(bytes, count));
  std::string out;
  std::string last;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (shared[i] > last.size() || lengths[i] > bytes.size()) {
      return corrupt_page("a text is longer than its page");
    }
    last.resize(shared[i]);
    last += bytes.substr(0, lengths[i]);
    bytes.remove_prefix(lengths[i]);
    if (out.size() + last.size() > kRowBytesMax) {
      return corrupt_page("a page of texts that grow beyond measure");
    }
    if (fixed == 0) {
      append_plain(out, last);
      continue;
    }
    if (last.size() != fixed) return corrupt_page("a value is not as long as its column says");
    out += last;
  }
  return out;
}

Result<std::string> plain_from_stream_split(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count) {
  const std::size_t size = plain_size(leaf);
  if (size == 0 || bytes.size() != count * size) return corrupt_page("a split page is broken");
  std::string out(bytes.size(), '\0');
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = 0; i < count; ++i) out[i * size + k] = bytes[k * count + i];
  }
  return out;
}

Result<Json> to_json(const Node& leaf, std::string_view value) {
  switch (leaf.physical) {
    case Physical::int32: {
      const auto number = load<std::int32_t>(value);
      return whole_value(leaf, number, static_cast<std::uint32_t>(number));
    }
    case Physical::int64: {
      const auto number = load<std::int64_t>(value);
      return whole_value(leaf, number, static_cast<std::uint64_t>(number));
    }
    case Physical::int96: {
      // The value is nanoseconds of the day, then the Julian day.
      const std::int64_t day = load<std::int32_t>(value.substr(8)) - 2440588;
      return Json(date_text(day) + "T" + time_text(load<std::int64_t>(value), 1'000'000'000));
    }
    case Physical::float32:
      return Json(double{load<float>(value)});
    case Physical::float64:
      return Json(load<double>(value));
    case Physical::fixed_bytes:
      if (leaf.logical == Logical::float16 && value.size() == 2) {
        return Json(half(load<std::uint16_t>(value)));
      }
      [[fallthrough]];
    default:
      break;
  }
  if (leaf.logical == Logical::decimal) {
    constexpr std::size_t kDecimalBytesMax = 64;
    if (value.size() > kDecimalBytesMax) return corrupt_page("a decimal number of many bytes");
    return Json(decimal_text(value, leaf.scale));
  }
  if (leaf.logical == Logical::text) {
    if (!valid_utf8(value)) return invalid("bytes that are not UTF-8");
    return Json(value);
  }
  return Json(binary_cell(value));
}

}  // namespace assay::dataset::parquet
