#include "campaign/telemetry.h"

#include <algorithm>

#include "base/format.h"
#include "base/latency_profile.h"
#include "base/text.h"
#include "host/core_order.h"
#include "meter/command_source.h"
#include "meter/machine_source.h"
#include "meter/nvml_source.h"
#include "meter/page_source.h"
#include "meter/ptd_source.h"
#include "meter/query_source.h"
#include "net/url.h"
#include "plan/power.h"
#include "plan/saved_config.h"

namespace assay::campaign {
namespace {

// One reading's limit: a page that takes longer is of a server that is stuck.
constexpr Duration kPageTimeout = 5_s;

bool same_origin(const net::Url& a, const net::Url& b) {
  return a.tls == b.tls && a.host == b.host && a.port == b.port && a.unix_path == b.unix_path;
}

// How a page is asked: with the endpoint's own secrets where it is the endpoint's.
Result<protocol::ProbeQuestion> question_of(const plan::Config& config, const std::string& url,
                                            const std::string& ca_file) {
  ASSIGN_OR_RETURN(const net::Url page, net::parse_url(url));
  protocol::ProbeQuestion question{.url = url};
  question.insecure = config.settings.client.insecure;
  question.ca_file = ca_file;
  question.timeout = kPageTimeout;
  for (const std::string& endpoint : config.endpoint_config.endpoints) {
    const auto known = net::parse_url(endpoint);
    if (!known || !same_origin(*known, page)) continue;
    question.api_key = config.endpoint_config.api_key;
    question.headers = config.endpoint_config.headers;
  }
  return question;
}

// A library's path, or the cards' numbers: "0,2".
Result<std::unique_ptr<meter::Source>> open_nvml(const std::string& place, Duration interval) {
  if (place.empty() || place.find_first_not_of("0123456789,") != std::string::npos) {
    return meter::nvml_source(place.empty() ? meter::kNvmlLibrary : place, {}, interval);
  }
  std::vector<unsigned> cards;
  for (const std::string_view one : split(place, ',')) {
    const auto card = parse_uint(one);
    if (!card || *card > 1'000'000) return invalid(format("nvml:{}: no number of a card", place));
    cards.push_back(static_cast<unsigned>(*card));
  }
  return meter::nvml_source(meter::kNvmlLibrary, cards, interval);
}

// "nvml", "nvml:/opt/libnvidia-ml.so.1"; check.cc knows no other kinds.
Result<std::unique_ptr<meter::Source>> open_meter(const plan::Config& config,
                                                  const std::string& meter, Duration interval,
                                                  const std::string& ca_file, const Clock& clock) {
  const std::size_t colon = std::min(meter.find(':'), meter.size());
  const std::string kind = meter.substr(0, colon);
  const std::string place = meter.substr(std::min(colon + 1, meter.size()));
  if (kind == "nvml") return open_nvml(place, interval);
  if (kind == "query") {
    ASSIGN_OR_RETURN(auto question, question_of(config, place, ca_file));
    return meter::query_source(std::move(question), plan::redact_url(place), interval, clock);
  }
  if (kind == "rapl") return meter::rapl_source(place.empty() ? meter::kRaplRoot : place, interval);
  if (kind == "ptd") {
    ASSIGN_OR_RETURN(const meter::PtdPlace ptd, meter::parse_ptd_place(place));
    return meter::ptd_source(ptd, interval, clock);
  }
  return meter::host_source(place.empty() ? "/" : place, interval);
}

}  // namespace

Result<std::unique_ptr<meter::Collector>> open_telemetry(const plan::Config& config,
                                                         const std::string& ca_file,
                                                         std::uint64_t threads,
                                                         const Clock& clock) {
  ASSIGN_OR_RETURN(const plan::TelemetryConfig wanted, plan::telemetry_with_power(config.settings));
  std::vector<std::unique_ptr<meter::Source>> sources;
  for (const std::string& url : wanted.metrics) {
    ASSIGN_OR_RETURN(auto question, question_of(config, url, ca_file));
    ASSIGN_OR_RETURN(auto source, meter::page_source(std::move(question), plan::redact_url(url),
                                                     wanted.interval, clock));
    sources.push_back(std::move(source));
  }
  for (const std::string& one : wanted.meters) {
    ASSIGN_OR_RETURN(auto source, open_meter(config, one, wanted.interval, ca_file, clock));
    sources.push_back(std::move(source));
  }
  if (!wanted.command.empty()) {
    ASSIGN_OR_RETURN(auto source,
                     meter::command_source(wanted.command, wanted.interval,
                                           sample_clock_offset().wall_minus_monotonic));
    sources.push_back(std::move(source));
  }
  if (sources.empty()) return std::unique_ptr<meter::Collector>();
  return meter::Collector::open(
      std::move(sources),
      {.cores = host::cores_left(usable_cores(), threads), .after = wanted.after}, clock);
}

}  // namespace assay::campaign
