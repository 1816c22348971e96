#include "observe/telemetry.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace assay::observe {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr double kInstantMax = 1e18;  // ns: 31 years; sums of a few stay inside 64 bits

std::string key_of(std::uint32_t source, const PrometheusSample& sample) {
  std::string key = format("{} {}", source, sample.name);
  for (const auto& [name, value] : sample.labels) {
    key += format("\x1f{}\x1f{}", name, value);
  }
  return key;
}

Json labels_json(const Labels& labels) {
  Json out = Json::object();
  for (const auto& [name, value] : labels) out.set(name, value);
  return out;
}

std::string line_of(const Json& json) { return json.dump() + "\n"; }

// Reads the lines one by one; each is checked against those before it.
class Reader {
 public:
  Result<void> line(const Json& json) {
    if (const Json* const version = json.find("telemetry")) {
      if (version->as_int() == kVersion) return {};
      return Error{Code::unsupported, format("telemetry of version {}", version->as_int())};
    }
    if (json.find("kind") != nullptr) return source(json);
    if (json.find("series") != nullptr) return series(json);
    if (json.find("at_ns") != nullptr) return reading(json);
    if (const Json* const end = json.find("end")) return costs(*end);
    return {};  // a line of a later version
  }

  Telemetry take() {
    out_.costs.resize(out_.sources.size());
    return std::move(out_);
  }

 private:
  static Result<void> wrong(std::string_view what) {
    return Error{Code::corrupt, std::string(what)};
  }

  Result<void> source(const Json& json) {
    if (json["source"].as_uint() != out_.sources.size()) return wrong("a source out of its order");
    out_.sources.push_back({.kind = std::string(json["kind"].as_string()),
                            .name = std::string(json["name"].as_string()),
                            .interval = {json["interval_ns"].as_int()}});
    return {};
  }

  Result<void> series(const Json& json) {
    if (json["series"].as_uint() != out_.series.size()) return wrong("a series out of its order");
    TelemetrySeries series{.name = std::string(json["name"].as_string())};
    const std::uint64_t source = json["source"].as_uint(out_.sources.size());
    if (source >= out_.sources.size()) return wrong("a series without its source");
    if (out_.series.size() >= kSeriesMax) return wrong("more series than a file may have");
    series.source = static_cast<std::uint32_t>(source);
    for (const auto& [name, value] : json["labels"].members()) {
      series.labels.emplace_back(name, value.as_string());
    }
    out_.series.push_back(std::move(series));
    return {};
  }

  Result<void> reading(const Json& json) {
    TelemetryReading reading{.at = {json["at_ns"].as_int()}, .took = {json["took_ns"].as_int()}};
    const std::uint64_t source = json["source"].as_uint(out_.sources.size());
    if (source >= out_.sources.size()) return wrong("a reading without its source");
    if (std::abs(static_cast<double>(reading.at.ns)) > kInstantMax ||
        std::abs(static_cast<double>(reading.took.ns)) > kInstantMax) {
      return wrong("a reading at no instant of a clock");
    }
    reading.source = static_cast<std::uint32_t>(source);
    reading.error = json["error"].as_string();
    for (const Json& pair : json["values"].items()) {
      const std::uint64_t series = pair[std::size_t{0}].as_uint(out_.series.size());
      if (series >= out_.series.size() || out_.series[series].source != reading.source) {
        return wrong("a value without its series");
      }
      if (!pair[1].is_number() || !std::isfinite(pair[1].as_double())) {
        return wrong("a value that is not a number");
      }
      reading.values.emplace_back(static_cast<std::uint32_t>(series), pair[1].as_double());
    }
    out_.readings.push_back(std::move(reading));
    return {};
  }

  Result<void> costs(const Json& end) {
    out_.series_lost = end["series_lost"].as_uint();
    for (const Json& cost : end["sources"].items()) {
      if (out_.costs.size() >= out_.sources.size()) break;
      out_.costs.push_back({.readings = cost["readings"].as_uint(),
                            .failed = cost["failed"].as_uint(),
                            .unreadable = cost["unreadable"].as_uint(),
                            .cpu = {cost["cpu_ns"].as_int()}});
    }
    return {};
  }

  Telemetry out_{};
};

}  // namespace

std::string TelemetryLines::head(std::string_view run_id) {
  return line_of(Json().set("telemetry", kVersion).set("run_id", run_id).set("clock", "the run's"));
}

std::string TelemetryLines::source(const TelemetrySource& source) {
  return line_of(Json()
                     .set("source", sources_++)
                     .set("kind", source.kind)
                     .set("name", source.name)
                     .set("interval_ns", source.interval.ns));
}

std::string TelemetryLines::reading(std::uint32_t source, Instant at, Duration took,
                                    const std::vector<PrometheusSample>& samples) {
  std::string out;
  Json values = Json::array();
  for (const PrometheusSample& sample : samples) {
    std::string key = key_of(source, sample);
    const auto found = known_.find(key);
    if (found != known_.end()) {
      if (found->second.value == sample.value) continue;
      found->second.value = sample.value;
      values.push_back(Json::array().push_back(found->second.id).push_back(sample.value));
      continue;
    }
    if (known_.size() >= kSeriesMax) {
      ++lost_;
      continue;
    }
    const auto id = static_cast<std::uint32_t>(known_.size());
    known_.emplace(std::move(key), Known{id, sample.value});
    out += line_of(Json()
                       .set("series", id)
                       .set("source", source)
                       .set("name", sample.name)
                       .set("labels", labels_json(sample.labels)));
    values.push_back(Json::array().push_back(id).push_back(sample.value));
  }
  return out + line_of(Json()
                           .set("at_ns", at.ns)
                           .set("took_ns", took.ns)
                           .set("source", source)
                           .set("values", std::move(values)));
}

std::string TelemetryLines::failure(std::uint32_t source, Instant at, Duration took,
                                    std::string_view error) {
  return line_of(
      Json().set("at_ns", at.ns).set("took_ns", took.ns).set("source", source).set("error", error));
}

std::string TelemetryLines::end(const std::vector<TelemetryCost>& costs) const {
  Json sources = Json::array();
  for (const TelemetryCost& cost : costs) {
    sources.push_back(Json()
                          .set("readings", cost.readings)
                          .set("failed", cost.failed)
                          .set("unreadable", cost.unreadable)
                          .set("cpu_ns", cost.cpu.ns));
  }
  return line_of(
      Json().set("end", Json().set("sources", std::move(sources)).set("series_lost", lost_)));
}

Result<Telemetry> parse_telemetry(std::string_view text) {
  Reader reader;
  std::string trouble;
  std::size_t number = 0;
  while (!text.empty() && trouble.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off while it was written
    const auto json = Json::parse(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (!json) {
      trouble = format("line {}: {}", number, json.error().message);
      break;
    }
    const Result<void> taken = reader.line(*json);
    if (taken) continue;
    if (taken.error().code == Code::unsupported) return taken.error();
    trouble = format("line {}: {}", number, taken.error().message);
  }
  Telemetry out = reader.take();
  out.trouble = std::move(trouble);
  return out;
}

Result<Telemetry> read_telemetry(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse_telemetry(text);
}

}  // namespace assay::observe
