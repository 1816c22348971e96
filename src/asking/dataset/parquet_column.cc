#include "dataset/parquet_column.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/format.h"
#include "dataset/parquet_values.h"

namespace assay::dataset::parquet {
namespace {

int width_of(std::uint8_t level) { return static_cast<int>(std::bit_width(level)); }

}  // namespace

bool RunDecoder::next(std::uint32_t& value) {
  if (width_ == 0 && run_ == 0 && packed_ == 0 && bytes_.empty()) {
    value = 0;  // no bits, no bytes: all are zero
    return true;
  }
  while (run_ == 0 && packed_ == 0) {
    std::uint64_t head = 0;
    int shift = 0;
    for (;; shift += 7) {
      if (bytes_.empty() || shift > 35) return false;
      const auto b = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      head |= std::uint64_t{b & 0x7FU} << shift;
      if (b < 0x80) break;
    }
    if ((head & 1) != 0) {
      packed_ = (head >> 1) * 8;
      bits_ = 0;
      have_ = 0;
      continue;
    }
    run_ = head >> 1;
    equal_ = 0;
    for (int k = 0; k < (width_ + 7) / 8; ++k) {
      if (bytes_.empty()) return false;
      equal_ |= std::uint32_t{static_cast<unsigned char>(bytes_.front())} << 8 * k;
      bytes_.remove_prefix(1);
    }
  }
  if (run_ > 0) {
    --run_;
    value = equal_;
    return true;
  }
  while (have_ < width_) {
    if (bytes_.empty()) return false;
    bits_ |= std::uint64_t{static_cast<unsigned char>(bytes_.front())} << have_;
    have_ += 8;
    bytes_.remove_prefix(1);
  }
  value = static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << width_) - 1));
  bits_ >>= width_;
  have_ -= width_;
  --packed_;
  return true;
}

Error ColumnReader::wrong(std::string_view what) const {
  return Error{Code::corrupt, format("column '{}': {}", leaf_->name, what)};
}

void ColumnReader::begin(const Chunk& chunk) {
  chunk_ = chunk;
  at_ = chunk.offset;
  left_ = chunk.size;
  values_ = chunk.values;
  page_values_ = 0;
  dictionary_.clear();
  peeked_ = false;
}

Result<int> ColumnReader::peek() {
  if (peeked_) return static_cast<int>(repetition_);
  while (page_values_ == 0) {
    if (values_ == 0) return -1;
    TRY(load_page());
  }
  if (!repetitions_.next(repetition_) || !definitions_.next(definition_) ||
      repetition_ > leaf_->repeat || definition_ > leaf_->definition) {
    return wrong("its levels are broken");
  }
  --page_values_;
  --values_;
  peeked_ = true;
  return static_cast<int>(repetition_);
}

Result<Entry> ColumnReader::take() {
  peeked_ = false;
  Entry out{.repetition = static_cast<std::uint8_t>(repetition_),
            .definition = static_cast<std::uint8_t>(definition_)};
  if (definition_ == leaf_->definition) {
    ASSIGN_OR_RETURN(out.value, next_value());
  }
  return out;
}

Result<void> ColumnReader::load_page() {
  std::size_t used = 0;
  PageHeader header;
  // Most headers are short; one with long statistics needs a second, complete read.
  constexpr std::size_t kFirst = 1 << 12;
  constexpr std::size_t kMost = std::size_t{16} << 20;
  for (std::size_t size = kFirst;; size = kMost) {
    ASSIGN_OR_RETURN(const std::string head,
                     file_->read(at_, std::min<std::uint64_t>(size, left_)));
    auto parsed = parse_page_header(head, used);
    if (parsed) {
      header = *parsed;
      break;
    }
    if (size == kMost || head.size() < size) return parsed.error().within(leaf_->name);
  }
  if (used + header.compressed_size > left_) return wrong("a page is longer than its column");
  ASSIGN_OR_RETURN(std::string bytes, file_->read(at_ + used, header.compressed_size));
  if (bytes.size() != header.compressed_size) return wrong("the file is cut short");
  at_ += used + header.compressed_size;
  left_ -= used + header.compressed_size;
  switch (header.kind) {
    case PageHeader::Kind::index:
      return {};
    case PageHeader::Kind::dictionary:
      return load_dictionary(header, std::move(bytes));
    default:
      return load_data(header, std::move(bytes));
  }
}

Result<void> ColumnReader::load_dictionary(const PageHeader& header, std::string bytes) {
  auto plain = decompress(chunk_.compression, bytes, header.size);
  if (!plain) return wrong(plain.error().message);
  dictionary_page_ = *std::move(plain);
  dictionary_.clear();
  dictionary_.reserve(std::min<std::size_t>(header.values, dictionary_page_.size()));
  std::string_view rest = dictionary_page_;
  for (std::uint32_t i = 0; i < header.values; ++i) {
    std::string_view value;
    if (leaf_->physical == Physical::boolean || !take_plain(*leaf_, rest, value)) {
      return wrong("its dictionary is broken");
    }
    dictionary_.push_back(value);
  }
  return {};
}

Result<void> ColumnReader::take_levels(const PageHeader& header, std::string_view& bytes) {
  const auto take = [&](std::uint8_t level, Encoding encoding, RunDecoder& out) -> Result<void> {
    out = RunDecoder({}, 0);
    if (level == 0) return {};
    if (encoding != Encoding::rle) return wrong("levels in an encoding of old, which is not read");
    if (bytes.size() < 4) return wrong("a page is cut short");
    std::uint32_t size = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      size |= std::uint32_t{static_cast<unsigned char>(bytes[k])} << 8 * k;
    }
    bytes.remove_prefix(4);
    if (size > bytes.size()) return wrong("a page is cut short");
    out = RunDecoder(bytes.substr(0, size), width_of(level));
    bytes.remove_prefix(size);
    return {};
  };
  TRY(take(leaf_->repeat, header.repetition_encoding, repetitions_));
  return take(leaf_->definition, header.definition_encoding, definitions_);
}

Result<void> ColumnReader::load_data(const PageHeader& header, std::string bytes) {
  const bool second = header.kind == PageHeader::Kind::data_v2;
  std::string levels;
  const std::size_t level_bytes =
      second ? std::size_t{header.repetition_bytes} + header.definition_bytes : 0;
  if (second) {
    levels = bytes.substr(0, level_bytes);
    bytes.erase(0, level_bytes);
  }
  const bool pressed = !second || header.compressed;
  const std::size_t size = header.size - level_bytes;
  if (pressed && !(bytes.empty() && size == 0)) {
    auto plain = decompress(chunk_.compression, bytes, size);
    if (!plain) return wrong(plain.error().message);
    bytes = *std::move(plain);
  }
  page_ = levels + bytes;
  std::string_view rest = page_;
  if (second) {
    const auto part = [&](std::uint8_t level, std::uint32_t length) {
      const std::string_view own = rest.substr(0, length);
      rest.remove_prefix(length);
      return level == 0 ? RunDecoder({}, 0) : RunDecoder(own, width_of(level));
    };
    repetitions_ = part(leaf_->repeat, header.repetition_bytes);
    definitions_ = part(leaf_->definition, header.definition_bytes);
  } else {
    TRY(take_levels(header, rest));
  }
  page_values_ = std::min<std::uint64_t>(header.values, values_);
  // Counts the values that are not null, by a second reading of the levels.
  std::uint64_t count = page_values_;
  if (leaf_->definition > 0) {
    RunDecoder again = definitions_;
    count = 0;
    for (std::uint64_t i = 0; i < page_values_; ++i) {
      std::uint32_t level = 0;
      if (!again.next(level)) return wrong("its levels are broken");
      if (level == leaf_->definition) ++count;
    }
  }
  return open_values(header.encoding, rest, count);
}

Result<void> ColumnReader::open_values(Encoding encoding, std::string_view bytes,
                                       std::uint64_t count) {
  bit_ = 0;
  plain_ = bytes;
  values_as_ = Values::plain;
  const auto rewrite = [&](Result<std::string> plain) -> Result<void> {
    if (!plain) return wrong(plain.error().message);
    rewritten_ = *std::move(plain);
    plain_ = rewritten_;
    return {};
  };
  const bool byte_array = leaf_->physical == Physical::byte_array;
  switch (encoding) {
    case Encoding::plain:
      return {};
    case Encoding::plain_dictionary:
    case Encoding::rle_dictionary: {
      values_as_ = Values::dictionary;
      const int width = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
      if (width > 32) return wrong("its indices are broken");
      runs_ = RunDecoder(bytes.empty() ? bytes : bytes.substr(1), width);
      return {};
    }
    case Encoding::rle:
      if (leaf_->physical != Physical::boolean || bytes.size() < 4) break;
      values_as_ = Values::runs;
      runs_ = RunDecoder(bytes.substr(4), 1);
      return {};
    case Encoding::delta_binary:
      return rewrite(plain_from_delta_binary(*leaf_, bytes, count));
    case Encoding::delta_length:
      if (!byte_array) break;
      return rewrite(plain_from_delta_length(bytes, count));
    case Encoding::delta_text:
      if (!byte_array && leaf_->physical != Physical::fixed_bytes) break;
      return rewrite(plain_from_delta_text(*leaf_, bytes, count));
    case Encoding::byte_stream_split:
      return rewrite(plain_from_stream_split(*leaf_, bytes, count));
    default:
      break;
  }
  return wrong("an encoding that is not read");
}

Result<Json> ColumnReader::next_value() {
  std::uint32_t number = 0;
  if (values_as_ == Values::runs) {
    if (!runs_.next(number)) return wrong("the page is cut short");
    return Json(number != 0);
  }
  if (leaf_->physical == Physical::boolean) {
    if (bit_ / 8 >= plain_.size()) return wrong("the page is cut short");
    const auto byte = static_cast<unsigned char>(plain_[bit_ / 8]);
    const bool value = (byte >> bit_ % 8 & 1) != 0;
    ++bit_;
    return Json(value);
  }
  std::string_view value;
  if (values_as_ == Values::dictionary) {
    if (!runs_.next(number) || number >= dictionary_.size()) return wrong("its indices are broken");
    value = dictionary_[number];
  } else if (!take_plain(*leaf_, plain_, value)) {
    return wrong("the page is cut short");
  }
  auto json = to_json(*leaf_, value);
  if (!json) return json.error().within(format("column '{}'", leaf_->name));
  return json;
}

}  // namespace assay::dataset::parquet
