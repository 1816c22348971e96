// Embeddings, reranking, scores and classification: one whole reply, whose numbers depend only on
// the inputs. An embedding has length 1. An error inside a stream does not exist here.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/base64.h"
#include "base/format.h"
#include "base/json.h"
#include "endpoint/dialect/kinds.h"
#include "endpoint/dialect/whole.h"
#include "endpoint/script.h"

namespace assay::endpoint {
namespace {

// In [0, 1).
double share_of(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * (1.0 / 9007199254740992.0);
}

std::vector<float> vector_of(std::uint64_t input, std::uint32_t dimensions) {
  std::vector<float> out(dimensions);
  double sum = 0;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const double value = 2 * share_of(mix(input, i)) - 1;
    out[i] = static_cast<float>(value);
    sum += value * value;
  }
  const auto length = static_cast<float>(std::sqrt(sum));
  for (float& value : out) value = length > 0 ? value / length : 1;
  return out;
}

std::string numbers_of(const std::vector<float>& vector) {
  std::string out = "[";
  for (const float value : vector) {
    if (out.size() > 1) out += ',';
    out += format("{}", value);
  }
  return out + ']';
}

std::string vector_bytes(const std::vector<float>& vector) {
  std::string raw(vector.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), vector.data(), raw.size());
  return '"' + encode_base64(raw) + '"';
}

class Vectors final : public Whole {
 public:
  Vectors(const DialectOptions& options, Route route) : options_(options), route_(route) {}

  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain&) const override {
    const bool ranks = route_ == Route::rerank;
    std::string out = format(R"({{"id":"vec-{:016x}",)", state.id);
    out += ranks ? R"("results":[)" : R"("object":"list","data":[)";
    if (route_ == Route::images) out = format(R"({{"created":{},"data":[)", state.created);
    bool first = true;
    for (const std::size_t index : order(own)) {
      if (!first) out += ',';
      first = false;
      out += item(own, index);
    }
    out += format(R"(],"model":{})", json_quote(own.model));
    if (!options_.no_usage && route_ == Route::images) {
      out += format(R"(,"usage":{{"input_tokens":{0},"output_tokens":0,"total_tokens":{0}}})",
                    state.prompt_tokens);
    } else if (!options_.no_usage) {
      const std::uint64_t said = std::uint64_t{state.prompt_tokens} * options_.said_for_each;
      out += format(R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0}}})", said);
    }
    return out + "}";
  }

 private:
  // Best first where documents are ranked, cut to those that were asked for.
  std::vector<std::size_t> order(const DialectState& own) const {
    const std::vector<std::uint64_t>& inputs = own.vectors.inputs;
    std::vector<std::size_t> out(inputs.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    if (route_ != Route::rerank) return out;
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return share_of(inputs[a]) > share_of(inputs[b]);
    });
    if (own.vectors.top_n > 0) out.resize(std::min<std::size_t>(out.size(), own.vectors.top_n));
    return out;
  }

  std::string item(const DialectState& own, std::size_t index) const {
    const std::uint64_t input = own.vectors.inputs[index];
    const std::string score = json_number(share_of(input));
    if (route_ == Route::rerank) {
      return format(R"({{"index":{},"document":{{"text":{}}},"relevance_score":{}}})", index,
                    json_quote(own.vectors.documents[index]), score);
    }
    if (route_ == Route::images) {
      // One pixel, as a PNG.
      constexpr std::string_view kPicture =
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
          "rkJggg==";
      if (!own.vectors.addresses) return format(R"({{"b64_json":"{}"}})", kPicture);
      return format(R"({{"url":"https://images.invalid/{:016x}-{}.png"}})", input, index);
    }
    if (route_ == Route::score) {
      return format(R"({{"index":{},"object":"score","score":{}}})", index, score);
    }
    if (route_ == Route::classify) {
      const bool second = share_of(input) >= 0.5;
      return format(R"({{"index":{},"label":"LABEL_{}","probs":[{},{}],"num_classes":2}})", index,
                    second ? 1 : 0, json_number(1 - share_of(input)), score);
    }
    const std::vector<float> vector = vector_of(input, own.vectors.dimensions);
    return format(R"({{"object":"embedding","index":{},"embedding":{}}})", index,
                  own.vectors.base64 ? vector_bytes(vector) : numbers_of(vector));
  }

  DialectOptions options_;
  Route route_;
};

}  // namespace

std::unique_ptr<Dialect> make_vectors(const DialectOptions& options, Route route) {
  return std::make_unique<Vectors>(options, route);
}

}  // namespace assay::endpoint
