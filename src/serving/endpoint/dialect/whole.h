// Whole: a dialect whose replies are never streamed. Only for dialect/.
#pragma once

#include "base/check.h"
#include "endpoint/dialect/dialect.h"

namespace assay::endpoint {

class Whole : public Dialect {
 public:
  void opening(DialectOut&, const ReplyState&, DialectState&) const final {}
  void fragment(DialectOut&, const ReplyState&, DialectState&, Category, std::string_view,
                std::uint32_t) const final {
    CHECK(false && "no stream of this API");
  }
  void tool_opening(DialectOut&, const ReplyState&, DialectState&, std::string_view) const final {
    CHECK(false && "no stream of this API");
  }
  void tail(DialectOut&, const ReplyState&, DialectState&, FinishReason) const final {
    CHECK(false && "no stream of this API");
  }
  void error(DialectOut&, const ReplyState&, DialectState&, std::string_view) const final {
    CHECK(false && "no stream of this API");
  }
};

}  // namespace assay::endpoint
