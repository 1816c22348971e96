// The metadata of an Arrow stream: its schema, and where the buffers of a batch are. Metadata are
// flatbuffers; this reads the few tables that are needed, with every position checked. Pure.
// Source: the Arrow columnar format's Message.fbs and Schema.fbs, version 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/parquet_meta.h"

namespace assay::dataset::arrow {

// How a column's values lie in its buffers.
enum class Layout : std::uint8_t {
  nothing,     // all null, no buffers
  boolean,     // bits
  number,      // `width` bytes each
  bytes,       // offsets of `width` bytes each, and the bytes
  list,        // offsets of `width` bytes each, into the child
  fixed_list,  // `size` of the child each
  structure,   // one of each child
};

struct Field {
  std::string name{};
  Layout layout = Layout::nothing;
  std::uint32_t width = 0;
  std::uint32_t size = 0;
  bool is_signed = true;
  bool is_map = false;
  parquet::Node value{};  // what a number or bytes mean
  std::vector<Field> children{};
  std::optional<std::int64_t> dictionary{};  // the values are in it, the column has places
  std::uint32_t place_width = 0;
  bool place_signed = true;
};

struct Buffer {
  std::uint64_t offset = 0;  // in the message's body
  std::uint64_t size = 0;
};

struct Batch {
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> lengths{};  // of each column, depth first
  std::vector<Buffer> buffers{};
};

struct Message {
  enum class Kind : std::uint8_t { schema, dictionary, batch, other };
  Kind kind = Kind::other;
  std::uint64_t body_size = 0;
  std::vector<Field> fields{};  // schema
  Batch batch{};                // batch, dictionary
  std::int64_t dictionary = 0;
};

// `bytes`: the flatbuffer of one message. A type that is not read is Code::unsupported and named.
Result<Message> parse_message(std::string_view bytes);

}  // namespace assay::dataset::arrow
