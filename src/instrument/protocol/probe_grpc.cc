// The part of a probe that asks over gRPC: is the server of tensors ready, what is it, and what
// does the model take. These calls need no tensors; a run asks for inferences.
#include "base/format.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "net/grpc.h"
#include "net/http_call.h"
#include "protocol/codec.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

constexpr std::string_view kInfer = "/ModelInfer";

// The texts of one field, in order.
std::vector<std::string> texts_of(std::string_view message, std::uint64_t number) {
  std::vector<std::string> out;
  for (ProtoReader reader(message); !reader.done();) {
    const ProtoField field = reader.next();
    if (field.number == number) out.emplace_back(field.bytes);
  }
  return out;
}

bool says_yes(std::string_view message) {
  bool out = false;
  for (ProtoReader reader(message); !reader.done();) {
    const ProtoField field = reader.next();
    if (field.number == 1) out = field.value != 0;
  }
  return out;
}

// "name FP32[-1,3]" of each TensorMetadata.
std::string tensors_of(std::string_view message, std::uint64_t number) {
  std::string out;
  for (const std::string& tensor : texts_of(message, number)) {
    std::string shape;
    const auto add = [&shape](std::uint64_t size) {
      shape += format("{}{}", shape.empty() ? "" : ",", static_cast<std::int64_t>(size));
    };
    for (ProtoReader reader(tensor); !reader.done();) {
      const ProtoField field = reader.next();
      if (field.number != 3) continue;
      if (field.form == ProtoField::Form::varint) add(field.value);
      for (ByteReader packed(field.bytes); !packed.at_end() && packed.good();) add(packed.varint());
    }
    const auto name = texts_of(tensor, 1);
    const auto type = texts_of(tensor, 2);
    out += format("{}{} {}[{}]", out.empty() ? "" : ", ", name.empty() ? "" : name.back(),
                  type.empty() ? "" : type.back(), shape);
  }
  return out.empty() ? "any" : out;
}

class GrpcProbe {
 public:
  GrpcProbe(const ProbeQuestion& question, const net::Url& url, const Clock& clock)
      : question_(question), url_(url), clock_(clock) {}

  Result<ProbeReport> run() {
    report_.url = question_.url;
    report_.model = question_.model;
    ASSIGN_OR_RETURN(const std::optional<std::string> ready, ask("ServerReady", ""));
    if (ready) {
      server_ready_ = says_yes(*ready);
      say(server_ready_, "ready",
          server_ready_ ? "the server is ready" : "the server is not ready");
    }
    ASSIGN_OR_RETURN(const std::optional<std::string> server, ask("ServerMetadata", ""));
    if (server) {
      const auto name = texts_of(*server, 1);
      const auto version = texts_of(*server, 2);
      say(true, "server",
          format("it is {} {}", name.empty() ? "a server without a name" : name[0],
                 version.empty() ? "" : version[0]));
    }
    if (question_.model.empty()) {
      report_.findings.push_back(
          {Verdict::note, "model", "no model was named (--model): only the server was asked"});
      report_.answers = server_ready_;
      return std::move(report_);
    }
    TRY(ask_of_model());
    return std::move(report_);
  }

 private:
  Result<void> ask_of_model() {
    std::string name;
    put_proto_text(name, 1, question_.model);
    ASSIGN_OR_RETURN(const std::optional<std::string> ready, ask("ModelReady", name));
    if (ready) {
      const bool yes = says_yes(*ready);
      say(yes, "model", yes ? "the model is ready" : "the model is not ready");
      report_.answers = server_ready_ && yes;
    }
    ASSIGN_OR_RETURN(const std::optional<std::string> about, ask("ModelMetadata", name));
    if (about) {
      say(true, "tensors",
          format("inputs {}; outputs {}", tensors_of(*about, 4), tensors_of(*about, 5)));
    }
    return {};
  }

  void say(bool good, std::string topic, std::string text) {
    report_.findings.push_back(
        {good ? Verdict::good : Verdict::bad, std::move(topic), std::move(text)});
  }

  // The reply's message; nothing, and a finding, where the call failed. Fails where no reply came.
  Result<std::optional<std::string>> ask(std::string_view name, std::string_view message) {
    ASSIGN_OR_RETURN(const net::HttpCallReply reply, call(name, message));
    const auto framed = net::grpc_message_of(reply.body);
    if (reply.status == 200 && reply.grpc_status == net::kGrpcOk && framed && !framed->compressed) {
      return std::optional(std::string(framed->bytes));
    }
    const std::string why =
        reply.status != 200      ? format("HTTP {}", reply.status)
        : reply.grpc_status < 0  ? std::string("the reply ended without grpc-status")
        : reply.grpc_status != 0 ? net::grpc_words(reply.grpc_status, reply.grpc_message)
                                 : std::string("the reply is not one message");
    report_.findings.push_back({Verdict::bad, std::string(name), format("{}: {}", name, why)});
    return std::optional<std::string>();
  }

  Result<net::HttpCallReply> call(std::string_view name, std::string_view message) const {
    Endpoints endpoints{.urls = {question_.url}, .api = Api::kserve_grpc};
    endpoints.api_key = question_.api_key;
    endpoints.headers = question_.headers;
    endpoints.request_ids = false;
    ASSIGN_OR_RETURN(const std::vector<Header> headers, request_headers(endpoints, false, ""));
    net::HttpCall out{.method = "POST",
                      .url = url_,
                      .body = net::grpc_framed(message),
                      .timeout = question_.timeout,
                      .ca_file = question_.ca_file,
                      .insecure = question_.insecure};
    out.url.query.clear();
    out.url.path = request_target(out.url, Api::kserve_grpc);
    out.url.path.resize(out.url.path.size() - kInfer.size());
    out.url.path += format("/{}", name);
    for (const auto& [header, value] : headers) out.headers.emplace_back(lower(header), value);
    return net::http2_call(out, clock_);
  }

  const ProbeQuestion& question_;
  const net::Url& url_;
  const Clock& clock_;
  ProbeReport report_{};
  bool server_ready_ = false;
};

}  // namespace

Result<ProbeReport> probe_grpc(const ProbeQuestion& question, const Clock& clock) {
  ASSIGN_OR_RETURN(const net::Url url, net::parse_url(question.url));
  return GrpcProbe(question, url, clock).run();
}

}  // namespace assay::protocol
