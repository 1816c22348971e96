#include "meter/ptd_source.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "meter/line_connection.h"

namespace assay::meter {
namespace {

constexpr Duration kReply = 5_s;
constexpr std::string_view kGreeting = "Hello, PTDaemon here!";
constexpr std::string_view kMark = "assay";

// The reply to one command; a refusal is an error.
Result<std::string> ask(LineConnection& daemon, const Clock& clock, std::string_view command) {
  const Instant deadline = clock.now() + kReply;
  auto reply = daemon.ask(command, deadline);
  if (reply && (reply->starts_with("Error") || reply->starts_with("Invalid"))) {
    return Error{Code::refused, format("{}: the daemon replied \"{}\"", command, *reply)};
  }
  return reply;
}

class PtdSource final : public Source {
 public:
  PtdSource(std::string name, LineConnection connection, Duration interval, const Clock& clock)
      : name_(std::move(name)),
        connection_(std::move(connection)),
        interval_(interval),
        clock_(clock) {}
  ~PtdSource() override { end(); }
  PtdSource(const PtdSource&) = delete;
  PtdSource& operator=(const PtdSource&) = delete;

  Result<void> begin(const PtdRanges& ranges) {
    ASSIGN_OR_RETURN(const std::string greeting, ask(connection_, clock_, "Hello"));
    if (greeting != kGreeting) {
      return Error{Code::refused, format("it is not a PTDaemon: it said \"{}\"", greeting)};
    }
    ASSIGN_OR_RETURN(const std::string analyzer, ask(connection_, clock_, "Identify"));
    name_ += format(" ({})", analyzer);
    ASSIGN_OR_RETURN(const std::string told, ask(connection_, clock_, "RR"));
    ASSIGN_OR_RETURN(before_, read_ptd_ranges(told));
    changed_ = true;
    TRY(set(ranges));
    ASSIGN_OR_RETURN(const std::string started,
                     ask(connection_, clock_, format("Go,1000,0,{}", kMark)));
    if (!started.starts_with("Starting")) {
      return Error{Code::refused, format("Go: the daemon replied \"{}\"", started)};
    }
    measuring_ = true;
    return {};
  }

  observe::TelemetrySource facts() const override {
    return {.kind = "ptd", .name = name_, .interval = interval_};
  }

  Result<std::vector<SourceReading>> read(const Clock& clock) override {
    ASSIGN_OR_RETURN(const std::string head, ask(connection_, clock_, "RL"));
    const auto count = read_ptd_count(head);
    if (!count) return Error{Code::corrupt, format("RL: the daemon replied \"{}\"", head)};
    std::vector<PtdSample> samples;
    for (std::uint64_t i = 0; i < *count; ++i) {
      ASSIGN_OR_RETURN(const std::string line, connection_.read_line(clock.now() + kReply));
      const auto sample = read_ptd_sample(line);
      if (!sample) {
        ++unreadable_;
      } else if (!last_ || sample->stamp > *last_) {
        samples.push_back(*sample);
        last_ = sample->stamp;
      }
    }
    std::vector<SourceReading> out;
    if (samples.empty()) return out;
    const Duration delay = (clock.now() - Instant{}) - samples.back().stamp;
    if (!delay_ || delay < *delay_) delay_ = delay;
    for (const PtdSample& sample : samples) out.push_back(reading_of(sample));
    return out;
  }

  std::uint64_t unreadable() const override { return unreadable_; }

 private:
  Result<void> set(const PtdRanges& ranges) {
    for (const auto& [what, value] : {std::pair{"V", ranges.volts}, {"A", ranges.amps}}) {
      const std::string command = format("SR,{},{}", what, value);
      ASSIGN_OR_RETURN(const std::string reply, ask(connection_, clock_, command));
      if (reply.starts_with(format("Range {} changed", what))) continue;
      return Error{Code::refused, format("{}: the daemon replied \"{}\"", command, reply)};
    }
    return {};
  }

  SourceReading reading_of(const PtdSample& sample) const {
    SourceReading out{.at = Instant{} + (sample.stamp + *delay_)};
    out.samples.push_back({.name = "meter_power_watts", .value = sample.watts});
    if (sample.volts) out.samples.push_back({.name = "meter_volts", .value = *sample.volts});
    if (sample.amps) out.samples.push_back({.name = "meter_amps", .value = *sample.amps});
    return out;
  }

  // The analyzer is left as it was, whatever of it still answers.
  void end() {
    if (measuring_) static_cast<void>(ask(connection_, clock_, "Stop"));
    if (changed_) static_cast<void>(set(before_));
  }

  std::string name_;
  LineConnection connection_;
  Duration interval_;
  const Clock& clock_;
  PtdRanges before_{};
  bool changed_ = false;
  bool measuring_ = false;
  std::optional<Duration> last_{};   // stamp of the newest sample that was read
  std::optional<Duration> delay_{};  // run's clock − analyzer's clock, at most
  std::uint64_t unreadable_ = 0;
};

}  // namespace

Result<PtdPlace> parse_ptd_place(std::string_view text) {
  PtdPlace out;
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() != 1 && parts.size() != 3) {
    return invalid(format("ptd:{}: expected ptd:HOST:PORT or ptd:HOST:PORT/VOLTS/AMPS", text));
  }
  std::string_view place = parts[0];
  const std::size_t colon = place.rfind(':');
  const bool bracketed = place.ends_with(']');
  if (colon != std::string_view::npos && !bracketed) {
    const auto port = parse_uint(place.substr(colon + 1));
    if (!port || *port == 0 || *port > 65'535) return invalid(format("ptd:{}: no port", text));
    out.port = static_cast<std::uint16_t>(*port);
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty()) return invalid(format("ptd:{}: no host", text));
  out.host = place;
  if (parts.size() == 1) return out;
  for (const std::string_view range : {parts[1], parts[2]}) {
    const auto value = parse_double(range);
    if (range != "Auto" && !(value && *value > 0)) {
      return invalid(format("ptd:{}: a range is Auto or a number above 0", text));
    }
  }
  out.ranges = {std::string(parts[1]), std::string(parts[2])};
  return out;
}

Result<std::unique_ptr<Source>> ptd_source(const PtdPlace& place, Duration interval,
                                           const Clock& clock) {
  const std::string name = format("ptd {}:{}", place.host, place.port);
  auto connection = LineConnection::open(place.host, place.port, clock, clock.now() + kReply);
  if (!connection) return connection.error().within(name);
  auto source = std::make_unique<PtdSource>(name, *std::move(connection), interval, clock);
  if (const auto begun = source->begin(place.ranges); !begun) return begun.error().within(name);
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::meter
