// ModelledAsk: what a request asks of a modelled server, read from its body as the endpoint reads
// it: prompt tokens, reply length and the KV blocks of the prompt. So a run on a simulated clock
// and the same run against `assay endpoint --scenario` ask the same. One a thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "domain/api.h"
#include "endpoint/ask.h"
#include "endpoint/options.h"
#include "sim/engine.h"

namespace assay::endpoint {

class ModelledAsk {
 public:
  // `options`: lengths of replies, the size of a KV block and the seed. Fails for an API whose
  // replies have no tokens.
  static Result<ModelledAsk> make(Api api, EndpointOptions options);

  // `number` counts the requests; the reply's length follows from it. `body` gets padding behind
  // it. Fails where the endpoint would refuse the request.
  Result<sim::Request> read(std::string& body, std::uint64_t number);

 private:
  ModelledAsk(Route route, EndpointOptions options) : route_(route), options_(std::move(options)) {}

  Route route_;
  EndpointOptions options_;
  AskReader reader_{};
};

}  // namespace assay::endpoint
