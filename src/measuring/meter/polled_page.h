// PolledPage: a source that is a page of an HTTP server: one GET a reading, over a kept connection;
// the values' instant is the middle of it. A status other than 200 is a failed reading.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "meter/source.h"
#include "protocol/endpoint_capture.h"

namespace assay::meter {

class PolledPage : public Source {
 public:
  // `shown`: the URL without its secrets. `kind`: a constant.
  PolledPage(const char* kind, protocol::PageReader reader, std::string shown, Duration interval)
      : kind_(kind), reader_(std::move(reader)), shown_(std::move(shown)), interval_(interval) {}

  observe::TelemetrySource facts() const override {
    return {.kind = kind_, .name = shown_, .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    const Instant began = clock.now();
    ASSIGN_OR_RETURN(const protocol::CapturedReply reply, reader_.read());
    const Duration took = clock.now() - began;
    if (reply.status != 200) {
      return Error{Code::refused, format("{}: HTTP {}", shown_, reply.status)};
    }
    auto samples = samples_of(reply.body);
    if (!samples) return samples.error().within(shown_);
    std::vector<SourceReading> out;
    out.push_back({.at = began + took / 2, .took = took, .samples = *std::move(samples)});
    return out;
  }

 private:
  virtual Result<std::vector<observe::PrometheusSample>> samples_of(std::string_view body) = 0;

  const char* kind_;
  protocol::PageReader reader_;
  std::string shown_;
  Duration interval_;
};

}  // namespace assay::meter
