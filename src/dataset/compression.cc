#include "dataset/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/format.h"

namespace assay::dataset {
namespace {

Error corrupt_block(std::string_view what) { return Error{Code::corrupt, std::string(what)}; }

unsigned byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// Appends `length` bytes that stand `offset` before the end; they may overlap what is appended.
bool copy_back(std::string& out, std::size_t offset, std::size_t length, std::size_t size) {
  if (offset == 0 || offset > out.size() || length > size - out.size()) return false;
  const std::size_t from = out.size() - offset;
  if (offset >= length) {
    out.append(out, from, length);
  } else {
    for (std::size_t i = 0; i < length; ++i) out += out[from + i];
  }
  return true;
}

// The format: github.com/google/snappy/blob/main/format_description.txt
Result<std::string> unsnappy(std::string_view in, std::size_t size) {
  const Error broken = corrupt_block("snappy: the block is not what it says");
  std::uint64_t said = 0;
  std::size_t i = 0;
  for (int shift = 0;; shift += 7) {
    if (i == in.size() || shift > 28) return broken;
    const unsigned b = byte_at(in, i++);
    said |= std::uint64_t{b & 0x7F} << shift;
    if (b < 0x80) break;
  }
  if (said != size)
    return corrupt_block(format("snappy: {} bytes, where {} were said", said, size));
  std::string out;
  out.reserve(size);
  while (i < in.size()) {
    const unsigned tag = byte_at(in, i++);
    std::size_t length = (tag >> 2) + 1;
    if ((tag & 3) == 0) {
      const std::size_t extra = length > 60 ? length - 60 : 0;
      if (extra > in.size() - i) return broken;
      if (extra > 0) {
        length = 1;
        for (std::size_t k = 0; k < extra; ++k) length += std::size_t{byte_at(in, i + k)} << 8 * k;
        i += extra;
      }
      if (length > in.size() - i || length > size - out.size()) return broken;
      out.append(in, i, length);
      i += length;
      continue;
    }
    const std::size_t extra = (tag & 3) == 1 ? 1 : (tag & 3) == 2 ? 2 : 4;
    if (extra > in.size() - i) return broken;
    std::size_t offset = 0;
    for (std::size_t k = 0; k < extra; ++k) offset |= std::size_t{byte_at(in, i + k)} << 8 * k;
    i += extra;
    if (extra == 1) {
      offset |= std::size_t{tag >> 5} << 8;
      length = ((tag >> 2) & 7) + 4;
    }
    if (!copy_back(out, offset, length, size)) return broken;
  }
  if (out.size() != size) return broken;
  return out;
}

// A length's continuation: bytes of 255, and one that is less.
bool lz4_more(std::string_view in, std::size_t& i, std::size_t& length) {
  for (;;) {
    if (i == in.size()) return false;
    const unsigned b = byte_at(in, i++);
    length += b;
    if (b != 255) return true;
  }
}

// The format: github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
Result<std::string> unlz4(std::string_view in, std::size_t size) {
  const Error broken = corrupt_block("lz4: the block is not what it says");
  std::string out;
  out.reserve(size);
  std::size_t i = 0;
  while (i < in.size()) {
    const unsigned token = byte_at(in, i++);
    std::size_t literals = token >> 4;
    if (literals == 15 && !lz4_more(in, i, literals)) return broken;
    if (literals > in.size() - i || literals > size - out.size()) return broken;
    out.append(in, i, literals);
    i += literals;
    if (i == in.size()) break;  // the last sequence has literals only
    if (in.size() - i < 2) return broken;
    const std::size_t offset = byte_at(in, i) | std::size_t{byte_at(in, i + 1)} << 8;
    i += 2;
    std::size_t length = token & 15;
    if (length == 15 && !lz4_more(in, i, length)) return broken;
    if (!copy_back(out, offset, length + 4, size)) return broken;
  }
  if (out.size() != size) return broken;
  return out;
}

struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// gzip may be several members, one after the other.
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
    case Compression::snappy:
    case Compression::lz4_raw:
      break;
  }
  CHECK(false && "its size must be known");
  return std::string();
}

Result<std::string> decompress(Compression how, std::string_view bytes, std::size_t size) {
  if (how == Compression::snappy) return unsnappy(bytes, size);
  if (how == Compression::lz4_raw) return unlz4(bytes, size);
  ASSIGN_OR_RETURN(std::string out, decompress_up_to(how, bytes, size));
  if (out.size() != size) {
    return corrupt_block(format("{} bytes come out, where {} were said", out.size(), size));
  }
  return out;
}

}  // namespace assay::dataset
