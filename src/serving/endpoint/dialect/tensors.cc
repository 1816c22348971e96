// KServe's tensors: each output that was asked for is FP32 of ten scores a row, which depend only
// on the bytes of the inputs. An output comes as numbers in the JSON or as bytes behind it.

#include "base/format.h"
#include "base/json.h"
#include "base/protobuf.h"
#include "endpoint/dialect/kinds.h"
#include "endpoint/dialect/whole.h"
#include "endpoint/script.h"
#include "net/grpc.h"

namespace assay::endpoint {
namespace {

constexpr std::uint32_t kScores = 10;

// In [0, 1), with 24 bits, so that it is exact as FP32.
float score_of(std::uint64_t inputs, std::size_t output, std::uint32_t at) {
  return static_cast<float>(mix(inputs, output * 1'000'003 + at) >> 40) / 16'777'216.0F;
}

class Tensors final : public Whole {
 public:
  std::string plain(const ReplyState&, const DialectState& own, const Wire::Plain&) const override {
    std::string out = format(R"({{"model_name":{},"model_version":"1",)", json_quote(own.model));
    if (!own.tensors.id.empty()) out += format(R"("id":{},)", json_quote(own.tensors.id));
    out += R"("outputs":[)";
    std::string behind;
    for (std::size_t i = 0; i < own.tensors.outputs.size(); ++i) {
      const TensorOutput& output = own.tensors.outputs[i];
      if (i > 0) out += ',';
      out += format(R"({{"name":{},"datatype":"FP32","shape":[{},{}],)", json_quote(output.name),
                    own.tensors.rows, kScores);
      out += output.binary
                 ? format(R"("parameters":{{"binary_data_size":{}}}}})", output_bytes(own))
                 : R"("data":[)";
      for (std::uint32_t at = 0; at < own.tensors.rows * kScores; ++at) {
        const float score = score_of(own.vectors.inputs[0], i, at);
        if (output.binary) {
          behind.append(reinterpret_cast<const char*>(&score), sizeof(score));
        } else {
          out += format("{}{}", at == 0 ? "" : ",", score);
        }
      }
      if (!output.binary) out += "]}";
    }
    return out + "]}" + behind;
  }

  std::size_t bytes_behind(const DialectState& own) const override {
    std::size_t out = 0;
    for (const TensorOutput& output : own.tensors.outputs) {
      if (output.binary) out += output_bytes(own);
    }
    return out;
  }

 private:
  static std::size_t output_bytes(const DialectState& own) {
    return std::size_t{own.tensors.rows} * kScores * sizeof(float);
  }
};

// A ModelInferResponse: outputs as raw_output_contents, or as typed contents where the request had
// its inputs so.
class TensorsGrpc final : public Whole {
 public:
  std::string_view content_type(const DialectState&) const override { return "application/grpc"; }
  std::string plain(const ReplyState&, const DialectState& own, const Wire::Plain&) const override {
    std::string message;
    put_proto_text(message, 1, own.model);
    put_proto_text(message, 2, "1");
    put_proto_text(message, 3, own.tensors.id);
    std::string shape;
    put_proto_varint(shape, own.tensors.rows);
    put_proto_varint(shape, kScores);
    std::string behind;
    for (std::size_t i = 0; i < own.tensors.outputs.size(); ++i) {
      const TensorOutput& output = own.tensors.outputs[i];
      std::string scores;
      for (std::uint32_t at = 0; at < own.tensors.rows * kScores; ++at) {
        const float score = score_of(own.vectors.inputs[0], i, at);
        scores.append(reinterpret_cast<const char*>(&score), sizeof(score));
      }
      std::string one;
      put_proto_text(one, 1, output.name);
      put_proto_text(one, 2, "FP32");
      put_proto_text(one, 3, shape);
      if (output.binary) {
        put_proto_bytes(behind, 6, scores);
      } else {
        std::string contents;
        put_proto_bytes(contents, 6, scores);
        put_proto_bytes(one, 5, contents);
      }
      put_proto_bytes(message, 5, one);
    }
    return net::grpc_framed(message + behind);
  }
};

}  // namespace

std::unique_ptr<Dialect> make_tensors() { return std::make_unique<Tensors>(); }
std::unique_ptr<Dialect> make_tensors_grpc() { return std::make_unique<TensorsGrpc>(); }

}  // namespace assay::endpoint
