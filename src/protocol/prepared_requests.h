// PreparedRequests: the bytes of every request of a run, made before it starts. One thread: the
// sending path writes salts and ids into the bytes themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "domain/plan.h"
#include "domain/request_spec.h"
#include "protocol/codec.h"

namespace assay::protocol {

class PreparedRequests {
 public:
  // `http2`: connections may turn out to be HTTP/2, so fields are kept apart too.
  static Result<PreparedRequests> make(const Plan& plan,
                                       const std::vector<PlannedDataset>& datasets,
                                       const Endpoints& endpoints, bool http2);

  // The request's bytes, head and body, with the query's salt and id in them; valid until the next
  // call.
  std::string_view fill(const Query& query, std::size_t endpoint, std::uint64_t run_key);
  // The same for HTTP/2: pseudo-headers and fields, and the body.
  struct Http2Request {
    std::span<const std::pair<std::string_view, std::string_view>> fields{};
    std::string_view body{};
  };
  Http2Request fill_http2(const Query& query, std::size_t endpoint, std::uint64_t run_key);
  bool streamed(const Query& query) const { return variants_[phases_[query.phase]].streamed; }

 private:
  struct Request {
    std::string bytes{};
    std::size_t head_bytes = 0;
    std::vector<std::pair<std::string, std::string>> fields{};  // where HTTP/2 is possible
    std::size_t salt_offset = 0;
    SaltForm salt_form = SaltForm::hex;
    std::size_t id_offset = 0;
  };
  // The samples of one dataset, salted or not.
  struct Variant {
    std::uint32_t dataset = 0;
    bool salted = false;
    bool streamed = true;
    std::vector<Request> requests{};  // sample × endpoint
  };

  static Result<std::vector<std::pair<std::string, std::string>>> http2_fields(
      const Endpoints& endpoints, std::size_t endpoint, bool stream, const Sample& sample);
  Request& patch(const Query& query, std::size_t endpoint, std::uint64_t run_key);

  std::vector<std::pair<std::string_view, std::string_view>> field_views_{};
  std::vector<Variant> variants_{};
  std::vector<std::size_t> phases_{};  // phase -> variant
  std::size_t endpoints_ = 1;
};

}  // namespace assay::protocol
