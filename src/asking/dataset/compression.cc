#include "dataset/compression.h"

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <climits>
#include <memory>

#include "base/check.h"
#include "base/format.h"

namespace assay::dataset {
namespace {

Error corrupt_block(std::string_view what) { return Error{Code::corrupt, std::string(what)}; }

// The format: github.com/google/snappy/blob/main/format_description.txt
Result<std::string> unsnappy(std::string_view in, std::size_t size) {
  std::size_t said = 0;
  if (snappy_uncompressed_length(in.data(), in.size(), &said) != SNAPPY_OK) {
    return corrupt_block("snappy: the block is not what it says");
  }
  if (said != size) {
    return corrupt_block(format("snappy: {} bytes, where {} were said", said, size));
  }
  // A copy of three bytes gives at most 64; a larger declared size allocates nothing.
  constexpr std::size_t kSnappyMost = 32;
  if (size / kSnappyMost > in.size()) {
    return corrupt_block("snappy: the block is not what it says");
  }
  std::string out(size, '\0');
  if (snappy_uncompress(in.data(), in.size(), out.data(), &said) != SNAPPY_OK || said != size) {
    return corrupt_block("snappy: the block is not what it says");
  }
  return out;
}

// Appends a block that holds `size` bytes. The format:
// github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
bool append_lz4(std::string& out, std::string_view in, std::size_t size) {
  // A byte of a length adds at most 255; a larger declared size allocates nothing.
  constexpr std::size_t kLz4Most = 256;
  if (in.size() > INT_MAX || size > INT_MAX || size / kLz4Most > in.size()) return false;
  const std::size_t before = out.size();
  out.resize(before + size);
  const int made = LZ4_decompress_safe(in.data(), out.data() + before, static_cast<int>(in.size()),
                                       static_cast<int>(size));
  return made >= 0 && static_cast<std::size_t>(made) == size;
}

Result<std::string> unlz4(std::string_view in, std::size_t size) {
  std::string out;
  if (!append_lz4(out, in, size)) return corrupt_block("lz4: the block is not what it says");
  return out;
}

std::uint32_t big_endian_at(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return out;
}

// Reads blocks, each after its unpacked and packed sizes; empty: not this format.
std::string hadoop_blocks(std::string_view in, std::size_t size) {
  constexpr std::size_t kHeader = 8;
  std::string out;
  while (in.size() >= kHeader) {
    const std::size_t unpacked = big_endian_at(in, 0);
    const std::size_t packed = big_endian_at(in, 4);
    in.remove_prefix(kHeader);
    if (packed > in.size() || unpacked > size - out.size()) return {};
    if (!append_lz4(out, in.substr(0, packed), unpacked)) return {};
    in.remove_prefix(packed);
  }
  return in.empty() && out.size() == size ? out : std::string();
}

// Parquet's retired LZ4: Java writes Hadoop's frames, but some writers write a plain block
// (parquet-format/Compression.md).
Result<std::string> unlz4_hadoop(std::string_view in, std::size_t size) {
  std::string out = hadoop_blocks(in, size);
  if (!out.empty() || (size == 0 && in.empty())) return out;
  return unlz4(in, size);
}

struct FreeBrotli {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};

Result<std::string> unbrotli(std::string_view in, std::size_t bytes_max) {
  const std::unique_ptr<BrotliDecoderState, FreeBrotli> state(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr));
  CHECK(state != nullptr);
  std::string out;
  std::string piece(std::size_t{1} << 16, '\0');
  std::size_t in_left = in.size();
  const auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
  for (;;) {
    std::size_t room = piece.size();
    auto* next_out = reinterpret_cast<std::uint8_t*>(piece.data());
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state.get(), &in_left, &next_in, &room, &next_out, nullptr);
    const std::size_t made = piece.size() - room;
    if (made > bytes_max - out.size()) {
      return corrupt_block(format("more than {} bytes come out of {}", bytes_max, in.size()));
    }
    out.append(piece, 0, made);
    if (result == BROTLI_DECODER_RESULT_SUCCESS) {
      if (in_left > 0) return corrupt_block("brotli: bytes after the end");
      return out;
    }
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) return corrupt_block("brotli: cut short");
    if (result == BROTLI_DECODER_RESULT_ERROR) {
      return corrupt_block(
          format("brotli: {}", BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state.get()))));
    }
  }
}

struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// A gzip file may have several members, one after the other.
Result<std::string> inflate_all(std::string_view in, std::size_t bytes_max, bool raw) {
  z_stream stream{};
  constexpr int kAnyHeader = 15 + 32;
  if (inflateInit2(&stream, raw ? -15 : kAnyHeader) != Z_OK)
    return corrupt_block("zlib: no memory");
  const std::unique_ptr<z_stream, InflateEnd> end(&stream);
  std::string out;
  std::string piece(std::size_t{1} << 16, '\0');
  if (in.size() > UINT32_MAX) return corrupt_block("gzip: more than 4 GiB in one piece");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) {
      return corrupt_block("gzip: the data are broken or cut short");
    }
    const std::size_t made = piece.size() - stream.avail_out;
    if (made > bytes_max - out.size()) {
      return corrupt_block(format("more than {} bytes come out of {}", bytes_max, in.size()));
    }
    out.append(piece, 0, made);
    if (result == Z_STREAM_END) {
      if (raw || stream.avail_in == 0) return out;
      if (inflateReset(&stream) != Z_OK) return corrupt_block("gzip: no memory");
    } else if (made == 0 && stream.avail_in == 0) {
      return corrupt_block("gzip: cut short");
    }
  }
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Result<std::string> unzstd(std::string_view in, std::size_t bytes_max) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  CHECK(context != nullptr);
  // A frame may ask for a window of gigabytes; this is more than any writer's default.
  constexpr int kWindowLogMax = 27;
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLogMax);
  std::string out;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  std::size_t left = 1;
  while (input.pos < input.size || left != 0) {
    ZSTD_outBuffer output{piece.data(), piece.size(), 0};
    const std::size_t before = input.pos;
    left = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(left) != 0) return corrupt_block(format("zstd: {}", ZSTD_getErrorName(left)));
    if (output.pos > bytes_max - out.size()) {
      return corrupt_block(format("more than {} bytes come out of {}", bytes_max, in.size()));
    }
    out.append(piece, 0, output.pos);
    if (left != 0 && input.pos == before && output.pos == 0)
      return corrupt_block("zstd: cut short");
  }
  return out;
}

}  // namespace

Result<std::string> decompress_up_to(Compression how, std::string_view bytes,
                                     std::size_t bytes_max) {
  switch (how) {
    case Compression::none:
      if (bytes.size() > bytes_max) return corrupt_block(format("more than {} bytes", bytes_max));
      return std::string(bytes);
    case Compression::gzip:
      return inflate_all(bytes, bytes_max, false);
    case Compression::deflate:
      return inflate_all(bytes, bytes_max, true);
    case Compression::zstd:
      return unzstd(bytes, bytes_max);
    case Compression::brotli:
      return unbrotli(bytes, bytes_max);
    case Compression::snappy:
    case Compression::lz4_raw:
    case Compression::lz4_hadoop:
      break;
  }
  CHECK(false && "its size must be known");
  return std::string();
}

Result<std::string> decompress(Compression how, std::string_view bytes, std::size_t size) {
  if (how == Compression::snappy) return unsnappy(bytes, size);
  if (how == Compression::lz4_raw) return unlz4(bytes, size);
  if (how == Compression::lz4_hadoop) return unlz4_hadoop(bytes, size);
  ASSIGN_OR_RETURN(std::string out, decompress_up_to(how, bytes, size));
  if (out.size() != size) {
    return corrupt_block(format("{} bytes come out, where {} were said", out.size(), size));
  }
  return out;
}

}  // namespace assay::dataset
