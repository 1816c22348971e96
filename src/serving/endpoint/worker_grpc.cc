// The worker's calls of gRPC: KServe's inference service. The server carries them over HTTP/2;
// their trailers stand behind the last chunk.
#include <array>

#include "base/format.h"
#include "base/protobuf.h"
#include "base/version.h"
#include "endpoint/tensor_ask.h"
#include "endpoint/worker.h"
#include "net/grpc.h"

namespace assay::endpoint {
namespace {

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view kEnd = "\r\n0\r\ngrpc-status: 0\r\n\r\n";

// The name in a request of one model.
std::string_view model_in(std::string_view message) {
  std::string_view out;
  for (ProtoReader reader(message); !reader.done();) {
    const ProtoField field = reader.next();
    if (field.number == 1) out = field.bytes;
  }
  return out;
}

std::string yes() {
  std::string out;
  put_proto_number(out, 1, 1);
  return out;
}

std::string about_server() {
  std::string out;
  put_proto_text(out, 1, "assay");
  put_proto_text(out, 2, version());
  return out;
}

// As tensor_model() of worker_http.cc says it.
std::string about_model(std::string_view name) {
  std::string shape;
  put_proto_varint(shape, ~std::uint64_t{0});  // −1
  put_proto_varint(shape, 10);
  std::string scores;
  put_proto_text(scores, 1, "scores");
  put_proto_text(scores, 2, "FP32");
  put_proto_text(scores, 3, shape);
  std::string out;
  put_proto_text(out, 1, name);
  put_proto_text(out, 2, "1");
  put_proto_text(out, 3, "assay");
  put_proto_bytes(out, 5, scores);
  return out;
}

}  // namespace

void Worker::respond_grpc(net::ConnectionId connection, std::string_view message) {
  const std::string body = net::grpc_framed(message);
  const std::string size = format("{:x}\r\n", body.size());
  const std::array<std::string_view, 4> parts = {kHead, size, body, kEnd};
  if (server_->send(connection, parts) != net::HttpServer::Sent::gone) {
    server_->finish(connection, true);
  }
}

void Worker::refuse_grpc(net::ConnectionId connection, std::int32_t status,
                         std::string_view words) {
  const std::string head = format(
      "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\ngrpc-status: {}\r\n"
      "grpc-message: {}\r\nContent-Length: 0\r\n\r\n",
      status, net::grpc_encoded(words));
  if (server_->send(connection, head) != net::HttpServer::Sent::gone) {
    server_->finish(connection, true);
  }
}

void Worker::send_grpc(Stream& stream, std::string_view body) {
  const EventMark mark{.tokens = stream.reply.script.tokens, .category = Category::text};
  const std::string size = format("{:x}\r\n", body.size());
  const std::string head = stream.head + "Transfer-Encoding: chunked\r\n\r\n";
  const std::array<std::string_view, 4> parts = {head, size, body, kEnd};
  const auto status = outlet_.send_raw(stream.out, parts, mark, Then::finish);
  if (status != Outlet::Status::gone) {
    stats_.latency.observe(stream.out.last_handed - stream.arrived);
  }
  settle(stream, status);
}

void Worker::answer_grpc(net::ConnectionId connection, const net::RequestHead& head,
                         std::string_view body) {
  const std::string_view call = head.path().substr(kGrpcService.size());
  if (!head.find("content-type").starts_with("application/grpc") || head.method != "POST") {
    return refuse_grpc(connection, 3, "the content type is not application/grpc");
  }
  const auto message = net::grpc_message_of(body);
  if (!message) return refuse_grpc(connection, 13, "the body is not one message");
  if (message->compressed) {
    return refuse_grpc(connection, net::kGrpcUnimplemented, "compressed messages are not read");
  }
  if (call == "ModelInfer") return answer(connection, head, message->bytes, Route::kserve_grpc);
  if (call == "ServerLive" || call == "ServerReady") return respond_grpc(connection, yes());
  if (call == "ServerMetadata") return respond_grpc(connection, about_server());
  if (call != "ModelReady" && call != "ModelMetadata") {
    return refuse_grpc(connection, net::kGrpcUnimplemented, format("no call '{}'", call));
  }
  const std::string_view model = model_in(message->bytes);
  if (!options_.any_model && model != options_.model) {
    return refuse_grpc(connection, 5,
                       format("Request for unknown model: '{}' is not found", model));
  }
  respond_grpc(connection, call == "ModelReady" ? yes() : about_model(model));
}

}  // namespace assay::endpoint
