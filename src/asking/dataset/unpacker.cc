#include "dataset/unpacker.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace assay::dataset {
namespace {

constexpr std::uint64_t kUnpackedBytesMax = std::uint64_t{1} << 40;

Error broken_stream(std::string_view what) { return invalid(format("1: {}", what)); }

}  // namespace

struct Unpacker::Stream {
  z_stream zlib{};
  bool zlib_open = false;
  ZSTD_DCtx* zstd = nullptr;
  std::string frame_head{};  // the first packed bytes of the frame, as long as a header may be
  std::uint64_t frame_bytes = 0;
  std::string_view packed{};
  bool whole = true;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (zlib_open) inflateEnd(&zlib);
    ZSTD_freeDCtx(zstd);
  }
};

std::optional<Compression> compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return Compression::gzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return std::nullopt;
}

Unpacker::Unpacker(Compression how)
    : stream_(std::make_unique<Stream>()), how_(how), piece_(std::size_t{1} << 18, '\0') {
  CHECK(how == Compression::gzip || how == Compression::zstd);
  if (how == Compression::gzip) {
    constexpr int kGzip = 15 + 16;
    CHECK(inflateInit2(&stream_->zlib, kGzip) == Z_OK);
    stream_->zlib_open = true;
  } else {
    stream_->zstd = ZSTD_createDCtx();
    CHECK(stream_->zstd != nullptr);
    constexpr int kWindowLogMax = 27;  // as in compression.cc
    ZSTD_DCtx_setParameter(stream_->zstd, ZSTD_d_windowLogMax, kWindowLogMax);
  }
}

Unpacker::~Unpacker() = default;

void Unpacker::give(std::string_view packed) { stream_->packed = packed; }

bool Unpacker::whole() const { return stream_->whole && stream_->packed.empty(); }

Result<std::size_t> Unpacker::inflate_some() {
  Stream& s = *stream_;
  if (s.whole && inflateReset(&s.zlib) != Z_OK) return broken_stream("gzip: no memory");
  s.zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.packed.data()));
  s.zlib.avail_in = static_cast<uInt>(s.packed.size());
  s.zlib.next_out = reinterpret_cast<Bytef*>(piece_.data());
  s.zlib.avail_out = static_cast<uInt>(piece_.size());
  const int result = inflate(&s.zlib, Z_NO_FLUSH);
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
    return broken_stream("gzip: the data are broken");
  }
  s.packed.remove_prefix(s.packed.size() - s.zlib.avail_in);
  s.whole = result == Z_STREAM_END;
  return piece_.size() - s.zlib.avail_out;
}

Result<std::size_t> Unpacker::unzstd_some() {
  Stream& s = *stream_;
  ZSTD_inBuffer in{s.packed.data(), s.packed.size(), 0};
  ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
  const std::size_t left = ZSTD_decompressStream(s.zstd, &out, &in);
  if (ZSTD_isError(left) != 0) {
    return broken_stream("zstd: the data are broken");
  }
  constexpr std::size_t kHeaderBytesMax = 18;
  s.frame_head += s.packed.substr(0, std::min(in.pos, kHeaderBytesMax - s.frame_head.size()));
  s.frame_bytes += out.pos;
  s.packed.remove_prefix(in.pos);
  s.whole = left == 0;
  if (s.whole) {
    // The library checks a frame's stated size only where the frame is given as a whole.
    const std::uint64_t stated = ZSTD_getFrameContentSize(s.frame_head.data(), s.frame_head.size());
    if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != s.frame_bytes) {
      return broken_stream("zstd: a frame has not the size that it states");
    }
    s.frame_head.clear();
    s.frame_bytes = 0;
  }
  return out.pos;
}

Result<std::string_view> Unpacker::next() {
  for (;;) {
    // A stream that is not whole may hold back bytes for which the last piece had no room.
    if (stream_->packed.empty() && stream_->whole) return std::string_view();
    const std::size_t before = stream_->packed.size();
    ASSIGN_OR_RETURN(const std::size_t made,
                     how_ == Compression::gzip ? inflate_some() : unzstd_some());
    made_ += made;
    if (made_ > kUnpackedBytesMax) return broken_stream("it unpacks to more than 1 TiB");
    if (made > 0) return std::string_view(piece_).substr(0, made);
    if (stream_->packed.size() == before) return std::string_view();  // it needs more
  }
}

}  // namespace assay::dataset
