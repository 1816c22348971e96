// How an event's JSON becomes a server-sent event, and the body's bytes become what HTTP carries,
// with the quirks that change either. The clean forms are inline in the callers' hot path; these
// serve the others. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "endpoint/byte_buffer.h"
#include "endpoint/quirk.h"

namespace assay::endpoint {

// One event with the quirks of SSE: crlf, no-space, spaced-json, multi-data, sse-fields. `number`
// counts the events of the stream.
void put_event(ByteBuffer& out, std::string_view json, std::uint32_t number, const Quirks& quirks);

// The JSON with a space after each colon and comma outside of strings, as Python's json.dumps
// writes it.
std::string spaced_json(std::string_view json);

// How the body of one reply is carried.
class BodyCoder {
 public:
  enum class Framing : std::uint8_t { none, chunks, ragged };
  BodyCoder(Framing framing, bool gzip);
  BodyCoder(BodyCoder&&) noexcept;
  BodyCoder& operator=(BodyCoder&&) noexcept;
  ~BodyCoder();

  // Appends what carries `data`; with gzip, flushed so that it can be read at once.
  void put(ByteBuffer& out, std::string_view data);
  // Appends what ends the body.
  void end(ByteBuffer& out);

 private:
  struct Gzip;
  void carry(ByteBuffer& out, std::string_view bytes);

  Framing framing_;
  std::uint32_t chunks_ = 0;
  std::unique_ptr<Gzip> gzip_;
};

}  // namespace assay::endpoint
