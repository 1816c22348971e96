// Frames an event's JSON as a server-sent event, and the body for HTTP, with the quirks that change
// either. Callers write the forms without quirks inline, in their hot path. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "endpoint/byte_buffer.h"
#include "endpoint/quirk.h"

namespace assay::endpoint {

// Writes one event with the quirks of SSE: crlf, no-space, spaced-json, multi-data, sse-fields.
// `number` counts the stream's events. `name`: the event's type, where its kind has one.
void put_event(ByteBuffer& out, std::string_view json, std::uint32_t number, const Quirks& quirks,
               std::string_view name = {});

// The JSON with a space after each colon and comma outside of strings, like Python's json.dumps.
std::string spaced_json(std::string_view json);

// Encodes the body of one reply.
class BodyCoder {
 public:
  enum class Framing : std::uint8_t { none, chunks, ragged };
  BodyCoder(Framing framing, bool gzip);
  BodyCoder(BodyCoder&&) noexcept;
  BodyCoder& operator=(BodyCoder&&) noexcept;
  ~BodyCoder();

  // Appends `data`, encoded; gzip is flushed, so that a reader can decode it immediately.
  void put(ByteBuffer& out, std::string_view data);
  // Appends the end of the body.
  void end(ByteBuffer& out);

 private:
  struct Gzip;
  void carry(ByteBuffer& out, std::string_view bytes);

  Framing framing_;
  std::uint32_t chunks_ = 0;
  std::unique_ptr<Gzip> gzip_;
};

}  // namespace assay::endpoint
