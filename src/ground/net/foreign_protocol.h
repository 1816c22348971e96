// Recognises the protocol of a peer that does not speak ours, from the first bytes it sent: the
// port of another service, TLS on a plain port, HTTP/2 where HTTP/1.1 was asked. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::net {

enum class Spoken : std::uint8_t { http1, http2 };

// How many bytes identify the protocol, among those we know, that begins with this byte.
std::size_t bytes_to_name(char first_byte);
// A sentence for a person that says what to change; "" when no known protocol fits.
std::string_view foreign_protocol(std::string_view first_bytes, Spoken ours);

}  // namespace assay::net
