#include "audit/certificate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/format.h"
#include "base/text.h"

namespace assay::audit {
namespace {

Json error_figures_json(const ErrorFigures& f) {
  return Json()
      .set("count", f.count)
      .set("p0.1", f.p0_1)
      .set("p1", f.p1)
      .set("p50", f.p50)
      .set("p99", f.p99)
      .set("p99.9", f.p99_9);
}

ErrorFigures figures_from(const Json& json) {
  return {.count = json["count"].as_uint(),
          .p0_1 = json["p0.1"].as_int(),
          .p1 = json["p1"].as_int(),
          .p50 = json["p50"].as_int(),
          .p99 = json["p99"].as_int(),
          .p99_9 = json["p99.9"].as_int()};
}

Json clock_json(const ClockErrors& errors) {
  return Json()
      .set("ttft", error_figures_json(errors.ttft))
      .set("itl", error_figures_json(errors.itl))
      .set("latency", error_figures_json(errors.latency));
}

ClockErrors clock_from(const Json& json) {
  return {.ttft = figures_from(json["ttft"]),
          .itl = figures_from(json["itl"]),
          .latency = figures_from(json["latency"])};
}

Json level_json(const CalibratedLevel& level) {
  return Json()
      .set("share", level.share)
      .set("events_per_second", level.events_per_second)
      .set("qps", level.qps)
      .set("tokens", level.tokens)
      .set("replies", level.replies)
      .set("unmatched", level.unmatched)
      .set("kernel_stamped", level.kernel_stamped)
      .set("shares_read", level.shares_read)
      .set("client_limited", level.client_limited)
      .set("arrival_error_ns", clock_json(level.arrival))
      .set("alone_error_ns", clock_json(level.alone))
      .set("read_error_ns", clock_json(level.read));
}

CalibratedLevel level_from(const Json& json) {
  return {.share = json["share"].as_double(),
          .events_per_second = json["events_per_second"].as_double(),
          .qps = json["qps"].as_double(),
          .tokens = static_cast<std::uint32_t>(json["tokens"].as_uint()),
          .replies = json["replies"].as_uint(),
          .unmatched = json["unmatched"].as_uint(),
          .kernel_stamped = json["kernel_stamped"].as_double(),
          .shares_read = json["shares_read"].as_double(),
          .client_limited = std::string(json["client_limited"].as_string()),
          .arrival = clock_from(json["arrival_error_ns"]),
          .alone = clock_from(json["alone_error_ns"]),
          .read = clock_from(json["read_error_ns"])};
}

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

Json certificate_to_json(const Certificate& c) {
  Json levels = Json::array();
  for (const CalibratedLevel& level : c.levels) levels.push_back(level_json(level));
  return Json()
      .set("format", "assay-certificate")
      .set("version", 1)
      .set("made", rfc3339(c.made))
      .set("made_ns", c.made.ns)
      .set("assay", c.version)
      .set("build", c.build)
      .set("machine", Json()
                          .set("host", c.machine.host)
                          .set("system", c.machine.system)
                          .set("kernel", c.machine.kernel)
                          .set("cpu", c.machine.cpu)
                          .set("cores", c.machine.cores)
                          .set("virtualisation", c.machine.virtualisation))
      .set("shape", Json().set("streams", c.streams).set("threads", c.threads).set("isl", c.isl))
      .set("ceiling",
           Json().set("events_per_second", c.events_per_second).set("queries_per_second", c.qps))
      .set("levels", std::move(levels));
}

Result<Certificate> certificate_from_json(const Json& json) {
  if (json["format"].as_string() != "assay-certificate") {
    return Error{Code::corrupt, "format: not an assay-certificate"};
  }
  if (json["version"].as_int() != 1) {
    return Error{Code::unsupported, "version: only 1 is known; calibrate again with this build"};
  }
  Certificate out{.made = {json["made_ns"].as_int()},
                  .version = std::string(json["assay"].as_string()),
                  .build = std::string(json["build"].as_string())};
  const Json& machine = json["machine"];
  out.machine.host = machine["host"].as_string();
  out.machine.system = machine["system"].as_string();
  out.machine.kernel = machine["kernel"].as_string();
  out.machine.cpu = machine["cpu"].as_string();
  out.machine.cores = static_cast<int>(machine["cores"].as_int());
  out.machine.virtualisation = machine["virtualisation"].as_string();
  out.streams = static_cast<std::uint32_t>(json["shape"]["streams"].as_uint());
  out.threads = static_cast<std::uint32_t>(json["shape"]["threads"].as_uint());
  out.isl = static_cast<std::uint32_t>(json["shape"]["isl"].as_uint());
  out.events_per_second = json["ceiling"]["events_per_second"].as_double();
  out.qps = json["ceiling"]["queries_per_second"].as_double();
  for (const Json& level : json["levels"].items()) out.levels.push_back(level_from(level));
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
  if (certificate.levels.empty() || point.stamps.events == 0) return out;
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
