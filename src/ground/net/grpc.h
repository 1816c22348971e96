// gRPC over HTTP/2, as far as a unary call needs it: a message behind its prefix, and what a status
// in the trailers says. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::net {

inline constexpr std::size_t kGrpcPrefixBytes = 5;
inline constexpr std::int32_t kGrpcOk = 0;
inline constexpr std::int32_t kGrpcDeadlineExceeded = 4;
inline constexpr std::int32_t kGrpcUnimplemented = 12;

// The message with its prefix: not compressed, and its length.
std::string grpc_framed(std::string_view message);

struct GrpcMessage {
  bool compressed = false;
  std::string_view bytes{};
};
// The only message of a body; nullopt where it is cut, or something follows it.
std::optional<GrpcMessage> grpc_message_of(std::string_view body);

// "INVALID_ARGUMENT"; "status 99" for one that gRPC does not have.
std::string grpc_status_name(std::int32_t status);
// The status that says what an HTTP status says.
std::int32_t grpc_status_of(int http_status);
// Words as the trailer grpc-message has them.
std::string grpc_encoded(std::string_view words);
// A failure for a person: "gRPC INVALID_ARGUMENT (3): the words". `message`: as it was sent, with
// bytes in percent-coding.
std::string grpc_words(std::int32_t status, std::string_view message);

}  // namespace assay::net
