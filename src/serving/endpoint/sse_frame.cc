#include "endpoint/sse_frame.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"
#include "base/format.h"

namespace assay::endpoint {
namespace {

// Calls on_char(c, outside) for each character; `outside` is false within strings.
template <typename F>
void scan_json(std::string_view json, F&& on_char) {
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string && c == '\\') {
      on_char(c, false);
      if (++i < json.size()) on_char(json[i], false);
      continue;
    }
    if (c == '"') in_string = !in_string;
    on_char(c, !in_string);
  }
}

// The JSON over several lines, broken where white space is allowed.
std::string broken_json(std::string_view json) {
  std::string out;
  scan_json(json, [&out](char c, bool outside) {
    out += c;
    if (outside && (c == ',' || c == '{')) out += '\n';
  });
  return out;
}

}  // namespace

std::string spaced_json(std::string_view json) {
  std::string out;
  scan_json(json, [&out](char c, bool outside) {
    out += c;
    if (outside && (c == ',' || c == ':')) out += ' ';
  });
  return out;
}

void put_event(ByteBuffer& out, std::string_view json, std::uint32_t number, const Quirks& quirks,
               std::string_view name) {
  const std::string_view line_end = quirks.has(Quirk::crlf) ? "\r\n" : "\n";
  const std::string_view data = quirks.has(Quirk::no_space) ? "data:" : "data: ";
  std::string text(json);
  if (quirks.has(Quirk::spaced_json) && json.starts_with('{')) text = spaced_json(text);
  if (quirks.has(Quirk::multi_data) && json.starts_with('{')) text = broken_json(text);
  if (quirks.has(Quirk::sse_fields)) {
    out.put(format("id: {}{}event: {}{}retry: 3000{}", number, line_end,
                   name.empty() ? "message" : name, line_end, line_end));
  } else if (!name.empty()) {
    out.put(format("event: {}{}", name, line_end));
  }
  std::string_view left = text;
  for (;;) {
    const std::size_t end = left.find('\n');
    out.put(data);
    out.put(left.substr(0, end));
    out.put(line_end);
    if (end == std::string_view::npos) break;
    left.remove_prefix(end + 1);
  }
  out.put(line_end);
}

struct BodyCoder::Gzip {
  z_stream stream{};
  Gzip() {
    // A small window: replies are short, and a stream should take kilobytes, not a quarter of a
    // megabyte. 16 selects gzip framing in zlib.
    constexpr int kWindowBits = 9 + 16;
    constexpr int kMemoryLevel = 1;
    CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) == Z_OK);
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { deflateEnd(&stream); }

  std::string run(std::string_view data, int flush) {
    std::string out;
    std::string piece(4096, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      const int result = deflate(&stream, flush);
      CHECK(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
      out.append(piece, 0, piece.size() - stream.avail_out);
    } while (stream.avail_out == 0);
    return out;
  }
};

BodyCoder::BodyCoder(Framing framing, bool gzip)
    : framing_(framing), gzip_(gzip ? std::make_unique<Gzip>() : nullptr) {}
BodyCoder::BodyCoder(BodyCoder&&) noexcept = default;
BodyCoder& BodyCoder::operator=(BodyCoder&&) noexcept = default;
BodyCoder::~BodyCoder() = default;

void BodyCoder::put(ByteBuffer& out, std::string_view data) {
  if (data.empty()) return;
  if (gzip_ == nullptr) return carry(out, data);
  carry(out, gzip_->run(data, Z_SYNC_FLUSH));
}

void BodyCoder::carry(ByteBuffer& out, std::string_view bytes) {
  constexpr std::size_t kRaggedBytes = 7;
  constexpr std::uint32_t kExtendEvery = 3;
  if (bytes.empty()) return;
  switch (framing_) {
    case Framing::none:
      return out.put(bytes);
    case Framing::chunks:
      return out.put_chunk(bytes);
    case Framing::ragged:
      while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, kRaggedBytes);
        bytes.remove_prefix(piece.size());
        const bool extended = chunks_++ % kExtendEvery == 0;
        out.put(format("{:X}{}\r\n", piece.size(), extended ? ";name=\"va;lue\"" : ""));
        out.put(piece);
        out.put("\r\n");
      }
  }
}

void BodyCoder::end(ByteBuffer& out) {
  if (gzip_ != nullptr) carry(out, gzip_->run({}, Z_FINISH));
  if (framing_ == Framing::chunks) out.put("0\r\n\r\n");
  if (framing_ == Framing::ragged) out.put("0;last\r\nX-Trailer: yes\r\n\r\n");
}

}  // namespace assay::endpoint
