// What a probe finds out over gRPC, from a server that answers each call as the test says.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "base/format.h"
#include "base/protobuf.h"
#include "net/grpc.h"
#include "net/http_server.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

std::string served_reply(std::string_view message, std::string_view trailers = "grpc-status: 0\r\n",
                         int status = 200) {
  const std::string body = net::grpc_framed(message);
  return format(
      "HTTP/1.1 {} X\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n"
      "{:x}\r\n{}\r\n0\r\n{}\r\n",
      status, body.size(), body, trailers);
}

std::string grpc_yes() {
  std::string out;
  put_proto_number(out, 1, 1);
  return served_reply(out);
}

class TensorServer final : net::HttpService {
 public:
  explicit TensorServer(std::map<std::string, std::string> replies) : replies_(std::move(replies)) {
    net::Fd listener = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
    url_ = format("http://{}/base?x=1", net::local_address(listener)->to_string());
    server_ =
        std::move(*net::HttpServer::open(std::move(listener), {.http2 = true}, *this, clock_));
    thread_ = std::thread([this] { server_->run(); });
  }
  ~TensorServer() override { end(); }
  // Each finding as a line, and whether the server can be asked.
  std::string found(const std::string& model) {
    ProbeQuestion question;
    question.url = url_;
    question.api = Api::kserve_grpc;
    question.model = model;
    question.api_key = "k";
    question.headers = {{"X-Own", "y"}};
    question.timeout = 10_s;
    const auto report = probe_grpc(question, clock_);
    if (!report) return report.error().message;
    EXPECT_EQ(report->url, url_);
    EXPECT_EQ(report->model, model);
    std::string out = report->answers ? "answers\n" : "";
    for (const ProbeFinding& one : report->findings) {
      out += format("{} {}: {}\n", to_string(one.verdict), one.topic, one.text);
    }
    return out;
  }
  // By call: the message. Ends the server, whose thread writes it.
  std::map<std::string, std::string> heard() {
    end();
    return heard_;
  }

 private:
  void end() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override {
    const std::string_view path = head.path();
    const std::string name(path.substr(path.rfind('/') + 1));
    const bool sound = path.starts_with("/base/inference.GRPCInferenceService/") &&
                       head.target == path && head.find("authorization") == "Bearer k" &&
                       head.find("x-own") == "y" && head.find("x-request-id").empty();
    const auto message = net::grpc_message_of(body);
    heard_[name] = message ? std::string(message->bytes) : "none";
    const auto reply = replies_.find(name);
    server_->send(connection, !sound                    ? served_reply("", "grpc-status: 3\r\n")
                              : reply == replies_.end() ? served_reply("", "grpc-status: 12\r\n")
                                                        : reply->second);
    server_->finish(connection, true);
  }
  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }

  OsClock clock_{};
  std::map<std::string, std::string> replies_;
  std::map<std::string, std::string> heard_{};
  std::string url_{};
  std::unique_ptr<net::HttpServer> server_{};
  std::thread thread_{};
};

std::string tensor(std::string_view name, std::string_view type,
                   const std::vector<std::int64_t>& shape, bool packed) {
  std::string out;
  put_proto_text(out, 1, name);
  put_proto_text(out, 2, type);
  std::string sizes;
  for (const std::int64_t size : shape) {
    if (packed) put_proto_varint(sizes, static_cast<std::uint64_t>(size));
    if (!packed) put_proto_number(out, 3, static_cast<std::uint64_t>(size));
  }
  put_proto_text(out, 3, sizes);
  return out;
}

TEST(ProbeGrpc, a_server_and_its_model_say_what_they_are_and_take) {
  std::string about;
  put_proto_text(about, 1, "m");
  put_proto_bytes(about, 4, tensor("a", "FP32", {-1, 3}, true));
  put_proto_bytes(about, 4, tensor("b", "INT64", {7, 8}, false));
  put_proto_bytes(about, 5, tensor("", "", {}, true));
  std::string server;
  put_proto_text(server, 1, "triton");
  put_proto_text(server, 2, "2.9");
  TensorServer endpoint({{"ServerReady", grpc_yes()},
                         {"ServerMetadata", served_reply(server)},
                         {"ModelReady", grpc_yes()},
                         {"ModelMetadata", served_reply(about)}});
  EXPECT_EQ(endpoint.found("m"),
            "answers\n"
            "good ready: the server is ready\n"
            "good server: it is triton 2.9\n"
            "good model: the model is ready\n"
            "good tensors: inputs a FP32[-1,3], b INT64[7,8]; outputs  []\n");
  std::string name;
  put_proto_text(name, 1, "m");
  const auto heard = endpoint.heard();
  EXPECT_EQ(heard.at("ServerReady"), "");
  EXPECT_EQ(heard.at("ModelReady"), name);
  EXPECT_EQ(heard.at("ModelMetadata"), name);
}

TEST(ProbeGrpc, without_a_model_only_the_server_is_asked) {
  TensorServer endpoint({{"ServerReady", grpc_yes()}, {"ServerMetadata", served_reply("")}});
  EXPECT_EQ(endpoint.found(""),
            "answers\n"
            "good ready: the server is ready\n"
            "good server: it is a server without a name \n"
            "note model: no model was named (--model): only the server was asked\n");
  EXPECT_FALSE(endpoint.heard().contains("ModelReady"));
}

TEST(ProbeGrpc, what_is_not_ready_does_not_answer) {
  TensorServer asleep({{"ServerReady", served_reply("")},
                       {"ServerMetadata", served_reply("")},
                       {"ModelReady", grpc_yes()},
                       {"ModelMetadata", served_reply("")}});
  EXPECT_EQ(asleep.found("m"),
            "bad ready: the server is not ready\n"
            "good server: it is a server without a name \n"
            "good model: the model is ready\n"
            "good tensors: inputs any; outputs any\n");
  TensorServer no_model({{"ServerReady", grpc_yes()},
                         {"ServerMetadata", served_reply("")},
                         {"ModelReady", served_reply("")}});
  EXPECT_EQ(no_model.found("m"),
            "good ready: the server is ready\n"
            "good server: it is a server without a name \n"
            "bad model: the model is not ready\n"
            "bad ModelMetadata: ModelMetadata: gRPC UNIMPLEMENTED (12)\n");
}

TEST(ProbeGrpc, a_call_that_fails_is_named_with_its_reason) {
  const std::string packed = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" +
                             std::string("\x01\0\0\0\0", 5) + "\r\n0\r\ngrpc-status: 0\r\n\r\n";
  TensorServer endpoint(
      {{"ServerReady", served_reply("", "", 503)},
       {"ServerMetadata", served_reply("", "")},
       {"ModelReady", served_reply("", "grpc-status: 5\r\ngrpc-message: no%21\r\n")},
       {"ModelMetadata", packed}});
  EXPECT_EQ(endpoint.found("m"),
            "bad ServerReady: ServerReady: HTTP 503\n"
            "bad ServerMetadata: ServerMetadata: the reply ended without grpc-status\n"
            "bad ModelReady: ModelReady: gRPC NOT_FOUND (5): no!\n"
            "bad ModelMetadata: ModelMetadata: the reply is not one message\n");
}

TEST(ProbeGrpc, a_server_of_which_it_is_not_known_whether_it_is_ready_does_not_answer) {
  TensorServer endpoint({{"ServerMetadata", served_reply("")},
                         {"ModelReady", grpc_yes()},
                         {"ModelMetadata", served_reply("")}});
  EXPECT_EQ(endpoint.found("m"),
            "bad ServerReady: ServerReady: gRPC UNIMPLEMENTED (12)\n"
            "good server: it is a server without a name \n"
            "good model: the model is ready\n"
            "good tensors: inputs any; outputs any\n");
}

TEST(ProbeGrpc, only_the_last_of_its_own_field_says_yes) {
  std::string another;
  put_proto_number(another, 2, 1);
  std::string taken_back;
  put_proto_number(taken_back, 1, 1);
  taken_back += std::string("\x08\0", 2);
  for (const std::string& no : {another, taken_back}) {
    TensorServer endpoint(
        {{"ServerReady", served_reply(no)}, {"ServerMetadata", served_reply("")}});
    EXPECT_EQ(endpoint.found("").substr(0, 36), "bad ready: the server is not ready\ng");
  }
}

// As in protobuf, the last of a field that comes twice counts.
TEST(ProbeGrpc, a_tensors_last_name_and_type_count) {
  std::string twice = tensor("old", "INT8", {}, true);
  put_proto_text(twice, 1, "new");
  put_proto_text(twice, 2, "FP16");
  std::string about;
  put_proto_bytes(about, 4, twice);
  TensorServer endpoint({{"ServerReady", grpc_yes()},
                         {"ServerMetadata", served_reply("")},
                         {"ModelReady", grpc_yes()},
                         {"ModelMetadata", served_reply(about)}});
  EXPECT_NE(endpoint.found("m").find("inputs new FP16[]; outputs any"), std::string::npos);
}

}  // namespace
}  // namespace assay::protocol
