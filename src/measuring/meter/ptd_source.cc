#include "meter/ptd_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "net/poller.h"
#include "net/receive.h"
#include "net/socket.h"

namespace assay::meter {
namespace {

constexpr Duration kReply = 5_s;
constexpr std::size_t kPtdLineMax = std::size_t{64} << 10;
constexpr std::string_view kGreeting = "Hello, PTDaemon here!";
constexpr std::string_view kMark = "assay";

// One connection, which waits for its replies.
class PtdConnection {
 public:
  PtdConnection(net::Fd fd, net::Poller poller, const Clock& clock)
      : fd_(std::move(fd)), poller_(std::move(poller)), clock_(clock) {}

  static Result<PtdConnection> open(const PtdPlace& place, const Clock& clock) {
    ASSIGN_OR_RETURN(const auto addresses, net::resolve(place.host, place.port));
    Error last{Code::refused, "no address"};
    for (const net::Address& address : addresses) {
      auto connected = connect(address, clock);
      if (connected) return connected;
      last = connected.error().within(address.to_string());
    }
    return last;
  }

  Result<std::string> ask(std::string_view command) {
    const Instant deadline = clock_.now() + kReply;
    const std::string line = format("{}\r\n", command);
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t n = net::send_some(fd_, rest);
      if (n > 0) {
        rest.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno != EAGAIN || !wait(deadline)) {
        return Error{Code::io, "the connection to the daemon is lost"};
      }
    }
    auto reply = read_line(deadline);
    if (!reply) return reply;
    if (reply->starts_with("Error") || reply->starts_with("Invalid")) {
      return Error{Code::refused, format("{}: the daemon replied \"{}\"", command, *reply)};
    }
    return reply;
  }

  Result<std::string> read_line(Instant deadline) {
    std::array<char, 4096> buffer{};
    for (;;) {
      const std::size_t end = bytes_.find('\n');
      if (end != std::string::npos) {
        std::string line(trim(std::string_view(bytes_).substr(0, end)));
        bytes_.erase(0, end + 1);
        return line;
      }
      if (bytes_.size() > kPtdLineMax) return Error{Code::corrupt, "a line without an end"};
      const net::Received got = net::receive(fd_, buffer.data(), buffer.size());
      if (got.bytes > 0) {
        bytes_.append(buffer.data(), static_cast<std::size_t>(got.bytes));
      } else if (got.bytes == 0) {
        return Error{Code::io, "the daemon closed the connection"};
      } else if (got.error != EAGAIN) {
        return Error{Code::io, std::strerror(got.error)};
      } else if (!wait(deadline)) {
        return Error{Code::timed_out, "the daemon did not reply in time"};
      }
    }
  }

 private:
  static Result<PtdConnection> connect(const net::Address& address, const Clock& clock) {
    ASSIGN_OR_RETURN(net::Fd fd, net::start_connect(address));
    ASSIGN_OR_RETURN(net::Poller poller, net::Poller::open(8));
    TRY(poller.add(fd.get(), 0));
    const Instant deadline = clock.now() + kReply;
    for (;;) {
      const int error = net::connect_result(fd);
      if (error == 0) break;
      if (error != EINPROGRESS && error != EALREADY) {
        return Error{Code::refused, std::strerror(error)};
      }
      const Instant now = clock.now();
      if (now >= deadline) return Error{Code::timed_out, "no connection in time"};
      poller.wait(deadline - now);
    }
    return PtdConnection(std::move(fd), std::move(poller), clock);
  }

  bool wait(Instant deadline) {
    const Instant now = clock_.now();
    if (now >= deadline) return false;
    poller_.wait(deadline - now);
    return true;
  }

  net::Fd fd_;
  net::Poller poller_;
  const Clock& clock_;
  std::string bytes_{};
};

class PtdSource final : public Source {
 public:
  PtdSource(std::string name, PtdConnection connection, Duration interval)
      : name_(std::move(name)), connection_(std::move(connection)), interval_(interval) {}
  ~PtdSource() override { end(); }
  PtdSource(const PtdSource&) = delete;
  PtdSource& operator=(const PtdSource&) = delete;

  Result<void> begin(const PtdRanges& ranges) {
    ASSIGN_OR_RETURN(const std::string greeting, connection_.ask("Hello"));
    if (greeting != kGreeting) {
      return Error{Code::refused, format("it is no PTDaemon: it said \"{}\"", greeting)};
    }
    ASSIGN_OR_RETURN(const std::string analyzer, connection_.ask("Identify"));
    name_ += format(" ({})", analyzer);
    ASSIGN_OR_RETURN(const std::string told, connection_.ask("RR"));
    ASSIGN_OR_RETURN(before_, read_ptd_ranges(told));
    changed_ = true;
    TRY(set(ranges));
    ASSIGN_OR_RETURN(const std::string started, connection_.ask(format("Go,1000,0,{}", kMark)));
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
    ASSIGN_OR_RETURN(const std::string head, connection_.ask("RL"));
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
      ASSIGN_OR_RETURN(const std::string reply, connection_.ask(command));
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
    if (measuring_) static_cast<void>(connection_.ask("Stop"));
    if (changed_) static_cast<void>(set(before_));
  }

  std::string name_;
  PtdConnection connection_;
  Duration interval_;
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
  auto connection = PtdConnection::open(place, clock);
  if (!connection) return connection.error().within(name);
  auto source = std::make_unique<PtdSource>(name, *std::move(connection), interval);
  if (const auto begun = source->begin(place.ranges); !begun) return begun.error().within(name);
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace assay::meter
