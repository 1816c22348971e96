#include "protocol/prepared_requests.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "net/url.h"
#include "protocol/codec.h"

namespace assay::protocol {

Result<PreparedRequests> PreparedRequests::make(const Plan& plan,
                                                const std::vector<PlannedDataset>& datasets,
                                                const Endpoints& endpoints, bool http2) {
  PreparedRequests out;
  out.endpoints_ = endpoints.urls.size();
  for (const PhasePlan& phase : plan.phases) {
    CHECK(phase.dataset < datasets.size());
    const auto same = std::find_if(out.variants_.begin(), out.variants_.end(), [&](const auto& v) {
      return v.dataset == phase.dataset && v.salted == phase.salted;
    });
    out.phases_.push_back(static_cast<std::size_t>(same - out.variants_.begin()));
    if (same != out.variants_.end()) continue;
    const PlannedDataset& planned = datasets[phase.dataset];
    Variant variant{
        .dataset = phase.dataset, .salted = phase.salted, .streamed = planned.generation.stream};
    variant.requests.reserve(planned.dataset.samples.size() * out.endpoints_);
    for (std::size_t row = 0; row < planned.dataset.samples.size(); ++row) {
      for (std::size_t e = 0; e < out.endpoints_; ++e) {
        auto request = make_request(endpoints, e, planned.generation, planned.dataset.samples[row],
                                    phase.salted);
        if (!request) {
          return request.error().within(
              format("dataset '{}': sample {}", planned.dataset.name, row));
        }
        Request made{.bytes = request->head + request->body,
                     .head_bytes = request->head.size(),
                     .salt_offset = request->salt_offset,
                     .salt_form = request->salt_form,
                     .id_offset = request->request_id_offset};
        if (made.salt_offset != kNoHole) made.salt_offset += request->head.size();
        if (http2) {
          ASSIGN_OR_RETURN(made.fields, http2_fields(endpoints, e, planned.generation.stream,
                                                     planned.dataset.samples[row]));
        }
        variant.requests.push_back(std::move(made));
      }
    }
    out.variants_.push_back(std::move(variant));
  }
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> PreparedRequests::http2_fields(
    const Endpoints& endpoints, std::size_t endpoint, bool stream, const Sample& sample) {
  ASSIGN_OR_RETURN(const net::Url url, net::parse_url(endpoints.urls[endpoint]));
  ASSIGN_OR_RETURN(const auto headers, request_headers(endpoints, stream, sample.session));
  std::vector<std::pair<std::string, std::string>> fields{
      {":method", "POST"},
      {":scheme", url.tls ? "https" : "http"},
      {":authority", net::host_header(url)},
      {":path", request_target(url, endpoints.api)}};
  for (const auto& [name, value] : headers) fields.emplace_back(lower(name), value);
  return fields;
}

std::string_view PreparedRequests::fill(const Query& query, std::size_t endpoint,
                                        std::uint64_t run_key) {
  return patch(query, endpoint, run_key).bytes;
}

PreparedRequests::Http2Request PreparedRequests::fill_http2(const Query& query,
                                                            std::size_t endpoint,
                                                            std::uint64_t run_key) {
  const Request& request = patch(query, endpoint, run_key);
  field_views_.clear();
  for (const auto& [name, value] : request.fields) field_views_.emplace_back(name, value);
  if (request.id_offset != kNoHole) {
    // The id is the last field, and stands patched in the head of the other form.
    field_views_.back().second =
        std::string_view(request.bytes).substr(request.id_offset, kRequestIdDigits);
  }
  return {field_views_, std::string_view(request.bytes).substr(request.head_bytes)};
}

PreparedRequests::Request& PreparedRequests::patch(const Query& query, std::size_t endpoint,
                                                   std::uint64_t run_key) {
  Variant& variant = variants_[phases_[query.phase]];
  Request& request = variant.requests[query.sample * endpoints_ + endpoint];
  if (request.salt_offset != kNoHole) {
    write_salt(request.bytes.data() + request.salt_offset, request.salt_form, query.salt);
  }
  if (request.id_offset != kNoHole) {
    const QueryUuid id = query_uuid(run_key, query.phase, query.index);
    std::copy(id.begin(), id.end(),
              request.bytes.begin() + static_cast<std::ptrdiff_t>(request.id_offset));
  }
  return request;
}

}  // namespace assay::protocol
