#include "audit/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/format.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace assay::audit {
namespace {

constexpr auto kErrorFields = [](auto& io, auto& figures) {
  io.field("count", figures.count);
  io.field("p0.1", figures.p0_1);
  io.field("p1", figures.p1);
  io.field("p50", figures.p50);
  io.field("p99", figures.p99);
  io.field("p99.9", figures.p99_9);
};

constexpr auto kClockFields = [](auto& io, auto& errors) {
  io.part("ttft", errors.ttft, kErrorFields);
  io.part("itl", errors.itl, kErrorFields);
  io.part("latency", errors.latency, kErrorFields);
};

constexpr auto kLevelFields = [](auto& io, auto& level) {
  io.field("share", level.share);
  io.field("events_per_second", level.events_per_second);
  io.field("qps", level.qps);
  io.field("tokens", level.tokens);
  io.field("replies", level.replies);
  io.field("unmatched", level.unmatched);
  io.field("kernel_stamped", level.kernel_stamped);
  io.field("shares_read", level.shares_read);
  io.field("client_limited", level.client_limited);
  io.part("arrival_error_ns", level.arrival, kClockFields);
  io.part("alone_error_ns", level.alone, kClockFields);
  io.part("read_error_ns", level.read, kClockFields);
};

constexpr auto kMachineFields = [](auto& io, auto& machine) {
  io.field("host", machine.host);
  io.field("system", machine.system);
  io.field("kernel", machine.kernel);
  io.field("cpu", machine.cpu);
  io.field("cores", machine.cores);
  io.field("virtualisation", machine.virtualisation);
};

constexpr auto kShapeFields = [](auto& io, auto& certificate) {
  io.field("streams", certificate.streams);
  io.field("threads", certificate.threads);
  io.field("isl", certificate.isl);
};

constexpr auto kCeilingFields = [](auto& io, auto& certificate) {
  io.field("events_per_second", certificate.events_per_second);
  io.field("queries_per_second", certificate.qps);
};

constexpr auto kCertificateFields = [](auto& io, auto& certificate) {
  io.field("assay", certificate.version);
  io.field("build", certificate.build);
  io.part("machine", certificate.machine, kMachineFields);
  io.part("shape", certificate, kShapeFields);
  io.part("ceiling", certificate, kCeilingFields);
  io.list("levels", certificate.levels, kLevelFields);
};

// Rounds up to two digits: 57.3 µs gives "under 58 µs".
Duration rounded_up(std::int64_t ns) {
  std::int64_t unit = 1;
  while (ns / unit >= 100) unit *= 10;
  return {(ns + unit - 1) / unit * unit};
}

bool encrypted(const metrics::Point& point) {
  const Json& endpoints = point.run.facts["endpoints"];
  return std::ranges::any_of(endpoints.items(),
                             [](const Json& url) { return url.as_string().starts_with("https"); });
}

}  // namespace

std::int64_t ErrorFigures::size_p99() const { return std::max(std::abs(p1), std::abs(p99)); }

ErrorFigures error_figures(std::vector<std::int64_t>& values) {
  ErrorFigures out{.count = values.size()};
  if (values.empty()) return out;
  std::ranges::sort(values);
  const auto at = [&values](double fraction) {
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::floor(fraction * last + 0.5))];
  };
  out.p0_1 = at(0.001);
  out.p1 = at(0.01);
  out.p50 = at(0.5);
  out.p99 = at(0.99);
  out.p99_9 = at(0.999);
  return out;
}

Json certificate_to_json(const Certificate& certificate) {
  return json_of(certificate, kCertificateFields,
                 Json()
                     .set("format", "assay-certificate")
                     .set("version", 1)
                     .set("made", rfc3339(certificate.made))
                     .set("made_ns", certificate.made.ns));
}

Result<Certificate> certificate_from_json(const Json& json) {
  if (json["format"].as_string() != "assay-certificate") {
    return Error{Code::corrupt, "format: not an assay-certificate"};
  }
  if (json["version"].as_int() != 1) {
    return Error{Code::unsupported, "version: only 1 is known; calibrate again with this build"};
  }
  Certificate out{.made = {json["made_ns"].as_int()}};
  read_fields(json, out, kCertificateFields);
  return out;
}

bool same_client(const Certificate& a, const Certificate& b) {
  return a.version == b.version && a.build == b.build && a.machine.host == b.machine.host &&
         a.machine.cpu == b.machine.cpu && a.machine.kernel == b.machine.kernel &&
         a.machine.cores == b.machine.cores && a.threads == b.threads;
}

std::optional<Citation> cite(const Certificate& certificate, const metrics::Point& point) {
  const double seconds = point.rates.duration.seconds();
  if (point.run.simulated || seconds <= 0 || encrypted(point)) return std::nullopt;
  Citation out;
  if (certificate.events_per_second > 0) {
    out.used = static_cast<double>(point.stamps.events) / seconds / certificate.events_per_second;
  }
  if (certificate.qps > 0) out.used = std::max(out.used, point.rates.qps / certificate.qps);
  if (point.stamps.events == 0) return out;
  // Take the level at or above the load; above the highest level, take the highest.
  const auto level = std::ranges::find_if(
      certificate.levels, [&out](const CalibratedLevel& l) { return l.share >= out.used; });
  if (level == certificate.levels.end()) return out;
  const bool stamped = point.stamps.kernel_stamped > 0;
  const ClockErrors& errors = stamped ? level->arrival : level->read;
  out.at_share = level->share;
  if (errors.ttft.count > 0) out.ttft_error_p99 = rounded_up(errors.ttft.size_p99());
  if (errors.itl.count > 0) out.itl_error_p99 = rounded_up(errors.itl.size_p99());
  return out;
}

std::string citation_text(const Certificate& certificate, const Citation& citation) {
  const double percent = 100 * citation.used;
  std::string out = format("used {} % of the capacity proven on {} at {} streams",
                           percent < 1 ? format("{:.2g}", percent) : format("{:.0f}", percent),
                           rfc3339(certificate.made).substr(0, 10),
                           with_thousands(std::int64_t{certificate.streams}));
  if (citation.ttft_error_p99) {
    out += format("; TTFT error at P99 ≤ {}", human_duration(*citation.ttft_error_p99));
  }
  if (citation.itl_error_p99) {
    out += format(", ITL ≤ {}", human_duration(*citation.itl_error_p99));
  }
  return out;
}

}  // namespace assay::audit
