// What a peer speaks that does not speak what we asked for, from the first bytes it sent: the port
// of another service, TLS on a plain port, HTTP/2 where HTTP/1.1 was asked. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::net {

enum class Spoken : std::uint8_t { http1, http2 };

// How many bytes tell which of the protocols that we know begins with that one.
std::size_t bytes_to_name(char first_byte);
// A sentence for a person that says what to change; "" when the bytes are of no protocol we know.
std::string_view foreign_protocol(std::string_view first_bytes, Spoken ours);

}  // namespace assay::net
