// ColumnReader: one column's values in order, with their levels; one page in memory at a time.
// Encodings: plain, dictionary, RLE, the delta family and byte stream split; pages of version 1 and
// 2. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dataset/input_file.h"
#include "dataset/parquet_meta.h"

namespace assay::dataset::parquet {

// Decodes runs of equal values and bit-packed groups of eight: levels and dictionary indices.
class RunDecoder {
 public:
  RunDecoder() = default;
  // REQUIRES: width <= 32.
  RunDecoder(std::string_view bytes, int width) : bytes_(bytes), width_(width) {}
  // Returns false when the bytes end too early.
  bool next(std::uint32_t& value);

 private:
  std::string_view bytes_{};
  int width_ = 0;
  std::uint64_t run_ = 0;  // values left of a run of equal ones
  std::uint32_t equal_ = 0;
  std::uint64_t packed_ = 0;  // values left of a packed group
  std::uint64_t bits_ = 0;
  int have_ = 0;
};

struct Entry {
  std::uint8_t repetition = 0;
  std::uint8_t definition = 0;
  Json value{};  // null unless the definition is the leaf's
};

class ColumnReader {
 public:
  // Both must outlive the reader.
  ColumnReader(const InputFile& file, const Node& leaf) : file_(&file), leaf_(&leaf) {}

  // Starts at a row group's chunk.
  void begin(const Chunk& chunk);
  // Returns the next entry's repetition level; −1 at the chunk's end.
  Result<int> peek();
  // REQUIRES: peek() >= 0.
  Result<Entry> take();

 private:
  Result<void> load_page();
  Result<void> load_dictionary(const PageHeader& header, std::string bytes);
  Result<void> load_data(const PageHeader& header, std::string bytes);
  // Removes the levels from the front of a page of version 1.
  Result<void> take_levels(const PageHeader& header, std::string_view& bytes);
  Result<void> open_values(Encoding encoding, std::string_view bytes, std::uint64_t count);
  Result<Json> next_value();
  Error wrong(std::string_view what) const;

  const InputFile* file_;
  const Node* leaf_;
  Chunk chunk_{};
  std::uint64_t at_ = 0;      // in the file, of the next page
  std::uint64_t left_ = 0;    // bytes of the chunk
  std::uint64_t values_ = 0;  // of the chunk, not yet taken
  std::uint64_t page_values_ = 0;

  std::string page_{};
  std::string rewritten_{};  // a page's values in plain encoding, if the page has another
  std::string_view plain_{};
  std::size_t bit_ = 0;  // of booleans
  enum class Values : std::uint8_t { plain, dictionary, runs } values_as_ = Values::plain;
  RunDecoder runs_{};
  RunDecoder definitions_{};
  RunDecoder repetitions_{};
  std::string dictionary_page_{};
  std::vector<std::string_view> dictionary_{};
  bool peeked_ = false;
  std::uint32_t repetition_ = 0;
  std::uint32_t definition_ = 0;
};

}  // namespace assay::dataset::parquet
