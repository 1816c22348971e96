#include "meter/director.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/secret.h"
#include "base/text.h"

namespace assay::meter {
namespace {

constexpr std::string_view kClientGreeting = "mlcommons/power client v3";
constexpr std::string_view kServerGreeting = "mlcommons/power server v3";
constexpr Duration kDirectorAnswer = 120_s;  // it waits 10 s and more for the analyzer
constexpr double kClocksApartS = 0.4;
constexpr std::uint64_t kPieceMax = std::uint64_t{1} << 20;
constexpr std::size_t kDownloadMax = std::size_t{256} << 20;

// 32 digits of chance as a UUID's text, of version 4.
std::string random_uuid() {
  std::string text = random_secret();
  text.resize(32, '0');
  text[12] = '4';
  text[16] = 'a';
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, 1, '-');
  return text;
}

double wall_seconds() { return static_cast<double>(wall_now().ns) * 1e-9; }

}  // namespace

Result<DirectorPlace> parse_director_place(std::string_view text) {
  DirectorPlace out;
  const std::size_t slash = text.find('/');
  std::string_view place = text.substr(0, slash);
  if (slash != std::string_view::npos) {
    out.label = text.substr(slash + 1);
    const bool plain = !out.label.empty() && std::ranges::all_of(out.label, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    });
    if (!plain || out.label.size() > 100) {
      return invalid(format("{}: a label is of letters, digits, '-' and '_'", text));
    }
  }
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && !place.ends_with(']')) {
    const auto port = parse_uint(place.substr(colon + 1));
    if (!port || *port == 0 || *port > 65'535) return invalid(format("{}: no port", text));
    out.port = static_cast<std::uint16_t>(*port);
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty())
    return invalid(format("{}: expected HOST, HOST:PORT or HOST:PORT/LABEL", text));
  out.host = place;
  return out;
}

Result<std::pair<std::string, std::string>> read_director_session(std::string_view reply) {
  const std::size_t comma = reply.find(',');
  if (!reply.starts_with("OK ") || comma == std::string_view::npos) {
    return Error{Code::refused, format("new: the director replied \"{}\"", reply)};
  }
  std::string session(trim(reply.substr(3, comma - 3)));
  std::string uuid(trim(reply.substr(comma + 1)));
  const bool plain =
      !session.empty() && session.size() <= 200 && std::ranges::all_of(session, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
      });
  if (!plain || uuid.empty()) {
    return Error{Code::corrupt, format("new: the director replied \"{}\"", reply)};
  }
  return std::pair(std::move(session), std::move(uuid));
}

std::string_view to_string(PowerPhase phase) {
  return phase == PowerPhase::ranging ? "ranging" : "testing";
}

Result<Director> Director::open(const DirectorPlace& place, const Clock& clock) {
  const std::string name = format("director {}:{}", place.host, place.port);
  auto connection = LineConnection::open(place.host, place.port, clock, clock.now() + 10_s);
  if (!connection) return connection.error().within(name);
  Director out(*std::move(connection), clock);
  const auto begin = [&]() -> Result<void> {
    ASSIGN_OR_RETURN(const std::string greeting, out.ask(std::string(kClientGreeting)));
    if (greeting != kServerGreeting) {
      return Error{Code::refused, format("it is not a director of protocol v3: \"{}\"", greeting)};
    }
    ASSIGN_OR_RETURN(double apart, out.clock_difference());
    if (std::abs(apart) > kClocksApartS) {
      TRY(out.expect_ok("set_ntp"));
      ASSIGN_OR_RETURN(apart, out.clock_difference());
    }
    if (std::abs(apart) > kClocksApartS) {
      return Error{Code::refused,
                   format("its clock and this machine's are {:.0f} ms apart; 400 are the most: set "
                          "both by NTP",
                          apart * 1e3)};
    }
    out.own_uuid_ = random_uuid();
    ASSIGN_OR_RETURN(const std::string reply,
                     out.ask(format("new,{},{}", place.label, out.own_uuid_)));
    ASSIGN_OR_RETURN(auto session, read_director_session(reply));
    out.session_ = std::move(session.first);
    out.server_uuid_ = std::move(session.second);
    return {};
  };
  if (const auto begun = begin(); !begun) return begun.error().within(name);
  return out;
}

Result<std::string> Director::ask(const std::string& command) {
  const double asked = wall_seconds();
  ASSIGN_OR_RETURN(std::string reply, connection_.ask(command, clock_->now() + kDirectorAnswer));
  messages_.push_back(Json()
                          .set("cmd", command)
                          .set("cmd_time", asked)
                          .set("reply", reply)
                          .set("reply_time", wall_seconds()));
  return reply;
}

Result<void> Director::expect_ok(const std::string& command) {
  ASSIGN_OR_RETURN(const std::string reply, ask(command));
  if (reply == "OK") return {};
  return Error{Code::refused, format("{}: the director replied \"{}\"", command, reply)};
}

Result<double> Director::clock_difference() {
  const double before = wall_seconds();
  ASSIGN_OR_RETURN(const std::string reply, ask("time"));
  const auto theirs = parse_double(reply);
  if (!theirs || !std::isfinite(*theirs)) {
    return Error{Code::refused, format("time: the director replied \"{}\"", reply)};
  }
  return *theirs - (before + wall_seconds()) / 2;
}

void Director::mark(PowerPhase phase) {
  (phase == PowerPhase::ranging ? ranging_ : testing_)
      .push_back(
          Json::array().push_back(wall_seconds()).push_back((clock_->now() - Instant{}).seconds()));
}

Result<void> Director::start(PowerPhase phase) {
  mark(phase);
  TRY(expect_ok(format("session,{},start,{}", session_, to_string(phase))));
  mark(phase);
  return {};
}

Result<void> Director::stop(PowerPhase phase) {
  mark(phase);
  TRY(expect_ok(format("session,{},stop,{}", session_, to_string(phase))));
  mark(phase);
  return {};
}

Result<void> Director::done() { return expect_ok(format("session,{},done", session_)); }

Result<std::string> Director::download(std::string_view file) {
  const std::string command = format("download,{},{}", session_, file);
  const auto broken = [&](std::string_view why) {
    return Error{Code::corrupt, format("{}: {}", command, why)};
  };
  const Instant deadline = clock_->now() + kDirectorAnswer;
  TRY(connection_.say(command, deadline));
  std::string out;
  for (;;) {
    ASSIGN_OR_RETURN(const std::string line, connection_.read_line(deadline));
    const auto size = parse_uint(line);
    if (!size || *size > kPieceMax) return broken(format("the director replied \"{}\"", line));
    if (*size == 0) return out;
    if (out.size() + *size > kDownloadMax) return broken("a file of more than 256 MiB");
    ASSIGN_OR_RETURN(const std::string chunk, connection_.read_bytes(*size, deadline));
    out += chunk;
  }
}

Result<void> Director::clean_up() { return expect_ok(format("cleanup,{}", session_)); }

Json Director::about() const {
  return Json()
      .set("version", "v3")
      .set("session_name", session_)
      .set("uuid", Json().set("client", own_uuid_).set("server", server_uuid_))
      .set("messages", messages_)
      .set("phases", Json().set("ranging", ranging_).set("testing", testing_))
      .set("sources", Json::object())
      .set("modules", Json::object())
      .set("debug", false);
}

}  // namespace assay::meter
