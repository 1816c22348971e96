#include "meter/page_source.h"

#include "meter/polled_page.h"
#include "net/url.h"
#include "observe/measure.h"

namespace assay::meter {
namespace {

class PageSource final : public PolledPage {
 public:
  PageSource(protocol::PageReader reader, std::string shown, Duration interval)
      : PolledPage("page", std::move(reader), std::move(shown), interval) {}

  std::uint64_t unreadable() const override { return unreadable_; }

 private:
  Result<std::vector<observe::PrometheusSample>> samples_of(std::string_view body) override {
    observe::PrometheusPage page = observe::read_prometheus(body);
    unreadable_ += page.unreadable + page.dropped;
    std::erase_if(page.samples, [](const observe::PrometheusSample& sample) {
      return !observe::worth_keeping(sample.name);
    });
    if (!page.samples.empty()) return std::move(page.samples);
    return Error{Code::unsupported, "no metrics in Prometheus' text format"};
  }

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
