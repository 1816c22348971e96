// The content of a Parquet file's footer: the schema as a tree, and where each column's pages are.
// github.com/apache/parquet-format. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/compression.h"

namespace assay::dataset::parquet {

enum class Physical : std::uint8_t {
  boolean,
  int32,
  int64,
  int96,
  float32,
  float64,
  byte_array,
  fixed_bytes,
  group,
};

// The meaning of a column's values, from its logical or its older converted type.
enum class Logical : std::uint8_t {
  none,
  text,
  unsigned_int,
  date,
  time_ms,
  time_us,
  time_ns,
  timestamp_ms,
  timestamp_us,
  timestamp_ns,
  decimal,
  float16,
  list,
  map,
};

enum class Repetition : std::uint8_t { required, optional, repeated };

struct Node {
  std::string name{};
  Physical physical = Physical::group;
  Logical logical = Logical::none;
  Repetition repetition = Repetition::required;
  std::int32_t size = 0;  // of fixed_bytes
  std::int32_t scale = 0;
  // Definition level at which this node is present, and level at which it repeats.
  std::uint8_t definition = 0;
  std::uint8_t repeat = 0;
  std::size_t leaf_begin = 0;  // the leaves below it, in the order of the columns
  std::size_t leaf_end = 0;
  std::vector<Node> children{};

  bool is_leaf() const { return physical != Physical::group; }
};

struct Chunk {
  std::uint64_t offset = 0;  // of the first page, the dictionary's if there is one
  std::uint64_t size = 0;    // of all pages, compressed
  std::uint64_t values = 0;
  Compression compression = Compression::none;
};

struct RowGroup {
  std::uint64_t rows = 0;
  std::vector<Chunk> chunks{};  // one a leaf
};

struct Footer {
  Node root{};
  std::vector<RowGroup> groups{};
  std::uint64_t rows = 0;
};

// `bytes`: the footer without its length and magic. `file_size` bounds every offset.
Result<Footer> parse_footer(std::string_view bytes, std::uint64_t file_size);

enum class Encoding : std::uint8_t {
  plain = 0,
  plain_dictionary = 2,
  rle = 3,
  bit_packed = 4,
  delta_binary = 5,
  delta_length = 6,
  delta_text = 7,
  rle_dictionary = 8,
  byte_stream_split = 9,
};

struct PageHeader {
  enum class Kind : std::uint8_t { data = 0, index = 1, dictionary = 2, data_v2 = 3 };
  Kind kind = Kind::data;
  std::uint32_t size = 0;             // uncompressed
  std::uint32_t compressed_size = 0;  // as it stands in the file
  std::uint32_t values = 0;
  Encoding encoding = Encoding::plain;
  Encoding definition_encoding = Encoding::rle;
  Encoding repetition_encoding = Encoding::rle;
  std::uint32_t definition_bytes = 0;  // version 2
  std::uint32_t repetition_bytes = 0;
  bool compressed = true;  // version 2: the values are
};

// Parses the header at the start of `bytes`; `used` becomes its length. An error with Code::corrupt
// may mean that `bytes` is too short.
Result<PageHeader> parse_page_header(std::string_view bytes, std::size_t& used);

}  // namespace assay::dataset::parquet
