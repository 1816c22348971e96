// Unpacker: a gzip or Zstandard stream, unpacked piece by piece, so that a reader of rows needs no
// memory for the whole file. Several members or frames, one after the other, are one stream. One
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/compression.h"

namespace assay::dataset {

// gzip or zstd, by the file's first four bytes; nullopt for any other.
std::optional<Compression> compression_of(std::string_view first_bytes);

class Unpacker {
 public:
  // `how`: gzip or zstd.
  explicit Unpacker(Compression how);
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker();

  // `packed` must stay where it is until next() returned an empty piece.
  void give(std::string_view packed);
  // Returns the next plain bytes, valid until the next call; empty: all that was given is unpacked.
  // Errors begin with "1: ", since a packed file has no lines.
  Result<std::string_view> next();
  // True if what was given ends where a member or frame ends.
  bool whole() const;

 private:
  struct Stream;
  Result<std::size_t> inflate_some();
  Result<std::size_t> unzstd_some();
  std::unique_ptr<Stream> stream_;
  Compression how_;
  std::string piece_{};
  std::uint64_t made_ = 0;
};

}  // namespace assay::dataset
