#include "meter/page_source.h"

#include "base/format.h"
#include "net/url.h"
#include "observe/measure.h"
#include "protocol/endpoint_capture.h"

namespace assay::meter {
namespace {

class PageSource final : public Source {
 public:
  PageSource(protocol::PageReader reader, std::string shown, Duration interval)
      : reader_(std::move(reader)), shown_(std::move(shown)), interval_(interval) {}

  observe::TelemetrySource facts() const override {
    return {.kind = "page", .name = shown_, .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    const Instant began = clock.now();
    ASSIGN_OR_RETURN(const protocol::CapturedReply reply, reader_.read());
    const Duration took = clock.now() - began;
    if (reply.status != 200) {
      return Error{Code::refused, format("{}: HTTP {}", shown_, reply.status)};
    }
    observe::PrometheusPage page = observe::read_prometheus(reply.body);
    unreadable_ += page.unreadable + page.dropped;
    std::erase_if(page.samples, [](const observe::PrometheusSample& sample) {
      return !observe::worth_keeping(sample.name);
    });
    if (page.samples.empty()) {
      return Error{Code::unsupported, format("{}: no metrics in Prometheus' text format", shown_)};
    }
    std::vector<SourceReading> out;
    out.push_back({.at = began + took / 2, .took = took, .samples = std::move(page.samples)});
    return out;
  }

  std::uint64_t unreadable() const override { return unreadable_; }

 private:
  protocol::PageReader reader_;
  std::string shown_;
  Duration interval_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> page_source(protocol::ProbeQuestion question, std::string shown,
                                            Duration interval, const Clock& clock) {
  ASSIGN_OR_RETURN(net::Url url, net::parse_url(question.url));
  if (url.path == "/") url.path = "/metrics";
  question.url = net::to_string(url);
  ASSIGN_OR_RETURN(auto reader, protocol::PageReader::open(question, clock));
  return std::unique_ptr<Source>(
      std::make_unique<PageSource>(std::move(reader), std::move(shown), interval));
}

}  // namespace assay::meter
