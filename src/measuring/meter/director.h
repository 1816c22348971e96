// The director of a power measurement (MLCommons' power-dev, protocol v3): the program beside the
// analyzer that owns PTDaemon. One session has two runs of one load: ranging, after which it knows
// the highest voltage and current, and testing with these ranges. Lines over TCP:
//
//   mlcommons/power client v3            mlcommons/power server v3
//   time                                 seconds since 1970; set_ntp where they are 400 ms apart
//   new,LABEL,UUID                       OK SESSION,UUID
//   session,SESSION,start|stop,ranging|testing    OK
//   session,SESSION,done                 OK
//   download,SESSION,FILE                length and bytes, at most 1 MiB each, until a length of 0
//   cleanup,SESSION                      OK
//
// Everything said is kept with its instants, for client.json. Blocking; one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "meter/line_connection.h"

namespace assay::meter {

inline constexpr std::uint16_t kDirectorPort = 4950;

// "HOST", "HOST:PORT", "HOST:PORT/LABEL"; a label is of letters, digits, '-' and '_'.
struct DirectorPlace {
  std::string host{};
  std::uint16_t port = kDirectorPort;
  std::string label = "assay";
};
Result<DirectorPlace> parse_director_place(std::string_view text);

// `OK SESSION,UUID` after new. The session becomes part of paths, so it is a plain name.
Result<std::pair<std::string, std::string>> read_director_session(std::string_view reply);

enum class PowerPhase : std::uint8_t { ranging, testing };
std::string_view to_string(PowerPhase phase);

class Director {
 public:
  // Shakes hands, compares the clocks and begins a session.
  static Result<Director> open(const DirectorPlace& place, const Clock& clock);

  const std::string& session() const { return session_; }
  // The director sets ranges and lets the analyzer settle: up to two minutes.
  Result<void> start(PowerPhase phase);
  Result<void> stop(PowerPhase phase);
  Result<void> done();
  Result<std::string> download(std::string_view file);
  Result<void> clean_up();
  // What client.json says of the session; without sums of sources, which are the stock client's.
  Json about() const;

 private:
  Director(LineConnection connection, const Clock& clock)
      : connection_(std::move(connection)), clock_(&clock) {}
  Result<std::string> ask(const std::string& command);
  Result<void> expect_ok(const std::string& command);
  // Server's clock − ours, in seconds, by the middle of the exchange.
  Result<double> clock_difference();
  void mark(PowerPhase phase);

  LineConnection connection_;
  const Clock* clock_;
  std::string session_{};
  std::string own_uuid_{};
  std::string server_uuid_{};
  Json messages_ = Json::array();
  Json ranging_ = Json::array();  // [wall, monotonic] before and after start, before and after stop
  Json testing_ = Json::array();
};

}  // namespace assay::meter
