// Decompression into limited memory: the caller passes the largest size of the output, and one more
// byte is an error, so that a small file cannot fill the machine. The libraries are zlib, libzstd,
// libsnappy, liblz4 and libbrotlidec. Pure. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::dataset {

enum class Compression : std::uint8_t {
  none,
  snappy,
  gzip,
  deflate,
  zstd,
  lz4_raw,
  lz4_hadoop,
  brotli,
};

// Returns exactly `size` bytes, or an error.
Result<std::string> decompress(Compression how, std::string_view bytes, std::size_t size);
// Returns up to `bytes_max` bytes. Not for snappy and LZ4, whose size must be known.
Result<std::string> decompress_up_to(Compression how, std::string_view bytes,
                                     std::size_t bytes_max);

}  // namespace assay::dataset
