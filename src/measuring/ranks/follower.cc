#include "ranks/follower.h"

#include <poll.h>

#include <thread>

#include "base/clock.h"
#include "base/machine.h"
#include "base/mutex.h"
#include "base/text.h"
#include "net/socket.h"
#include "ranks/line.h"
#include "ranks/messages.h"

namespace assay::ranks {
namespace {

constexpr Duration kFollowerLook = 100_ms;
constexpr Duration kTryAgain = 200_ms;
constexpr int kConnectMs = 2'000;
constexpr Duration kEchoMax = 5_s;
constexpr Duration kByeMax = 5_s;
constexpr int kProbesBefore = 16;
constexpr int kProbesAtStart = 8;

bool asked_to_stop(const run::Control& control) {
  return control.request() != run::Control::Request::none;
}

Error stopped() { return {Code::timed_out, "asked to stop while waiting for rank 0"}; }

class Follower final : public RankSession {
 public:
  Follower(const RankPlace& place, net::Fd fd) : place_(place), line_(std::move(fd)) {}
  ~Follower() override { stop_thread(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  Result<void> introduce(const Agreement& mine, const run::Control& control) {
    TRY(line_.send(Json()
                       .set("hello", 1)
                       .set("rank", place_.index)
                       .set("of", place_.count)
                       .set("host", this_machine().host)
                       .set("version", mine.version)
                       .set("digest", mine.plan_digest)
                       .set("threads", mine.threads)));
    ASSIGN_OR_RETURN(const Json said, wait_for("welcome", control));
    run_id_ = said["welcome"].as_string();
    if (run_id_.empty()) return Error{Code::corrupt, "rank 0 gave the run no name"};
    return probe(kProbesBefore);
  }

  const std::string& run_id() const override { return run_id_; }

  Result<Instant> start(const run::Control& control) override {
    TRY(line_.send(Json().set("ready", 1)));
    ASSIGN_OR_RETURN(const Json said, wait_for("start", control));
    TRY(probe(kProbesAtStart));
    ASSIGN_OR_RETURN(const auto map, record::ClockMap::make(probes_));
    const Duration offset = map.offset(clock_.now());
    start_thread();
    return Instant{said["start"].as_int()} - offset;
  }

  std::vector<record::ClockProbe> probes() override { return probes_; }

  std::vector<record::ClockProbe> after_load() override {
    stop_thread();
    if (broken_.empty()) {
      if (const auto done = probe(kProbesBefore); !done) broken_ = done.error().message;
    }
    std::vector<record::ClockProbe> out = probes_;
    // Rank 0 must hear that this rank lives while its files are written.
    start_thread();
    return out;
  }

  std::vector<LostRank> leave(const RunEnd& end, const run::Control&) override {
    stop_thread();
    if (!broken_.empty()) return {{0, {}, broken_}};
    if (const auto heard = say_end(end); !heard) return {{0, {}, heard.error().message}};
    return {};
  }

 private:
  // Rank 0 answers the end with `bye`; a rank 0 that is slow is not lost.
  Result<void> say_end(const RunEnd& end) {
    const Instant until = clock_.now() + kByeMax;
    TRY(line_.send(Json().set("end", to_string(end.state))));
    for (;;) {
      ASSIGN_OR_RETURN(const auto heard, line_.receive(until));
      if (!heard || heard->message.find("bye") != nullptr) return {};
      if (heard->message.find("abort") != nullptr) {
        return Error{Code::refused, std::string(heard->message["abort"].as_string())};
      }
    }
  }

  Result<Json> wait_for(const char* word, const run::Control& control) {
    const Instant until = clock_.now() + place_.patience;
    for (;;) {
      auto heard = line_.receive(clock_.now() + kFollowerLook);
      if (!heard) return heard.error().within("rank 0");
      if (*heard) {
        const Json& said = (**heard).message;
        if (said.find(word) != nullptr) return said;
        if (said.find("abort") != nullptr) {
          return Error{Code::refused, std::string(said["abort"].as_string())};
        }
        continue;
      }
      if (asked_to_stop(control)) return stopped();
      if (clock_.now() >= until) {
        return Error{Code::timed_out,
                     format("rank 0 gave no {} within {}\n  --rank-timeout waits longer", word,
                            human_duration(place_.patience))};
      }
    }
  }

  Result<void> probe(int times) {
    for (int i = 0; i < times; ++i) TRY(probe_once());
    return {};
  }

  Result<void> probe_once() {
    const std::uint64_t number = ++asked_;
    const Instant asked = clock_.now();
    TRY(line_.send(Json().set("probe", number)));
    const Instant until = asked + kEchoMax;
    for (;;) {
      ASSIGN_OR_RETURN(const auto heard, line_.receive(until));
      if (!heard) return Error{Code::timed_out, "no answer to a probe of the clocks"};
      const Json& said = heard->message;
      if (said.find("abort") != nullptr) {
        return Error{Code::refused, std::string(said["abort"].as_string())};
      }
      if (said["echo"].as_uint() != number) continue;
      probes_.push_back({asked, Instant{said["received"].as_int()},
                         Instant{said["answered"].as_int()}, heard->at});
      return {};
    }
  }

  void start_thread() {
    over_ = false;
    thread_ = std::thread([this] { probe_now_and_then(); });
  }

  void stop_thread() {
    if (!thread_.joinable()) return;
    {
      const Lock lock(mutex_);
      over_ = true;
      wake_.notify_all();
    }
    thread_.join();
  }

  void probe_now_and_then() {
    Lock lock(mutex_);
    while (!over_) {
      wake_.wait_for(lock, kProbeEvery);
      if (over_ || !broken_.empty()) continue;
      if (const auto done = probe_once(); !done) broken_ = done.error().message;
    }
  }

  const RankPlace place_;
  const OsClock clock_{};
  std::string run_id_{};
  // For the thread while it runs, else for the session's owner.
  Line line_;
  std::vector<record::ClockProbe> probes_{};
  std::uint64_t asked_ = 0;
  std::string broken_{};  // why rank 0 is not heard any more
  Mutex mutex_{};
  Condition wake_{};
  bool over_ = false;
  std::thread thread_{};
};

// One attempt; the error is the last address's.
Result<net::Fd> connect_once(const RankPlace& place) {
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(place.host, place.port));
  Error last{Code::refused, format("no address of '{}'", place.host)};
  for (const net::Address& address : addresses) {
    auto fd = net::start_connect(address);
    if (!fd) {
      last = fd.error();
      continue;
    }
    pollfd wanted{.fd = fd->get(), .events = POLLOUT, .revents = 0};
    const bool ready = ::poll(&wanted, 1, kConnectMs) > 0;
    const int error = ready ? net::connect_result(*fd) : ETIMEDOUT;
    if (error == 0) {
      net::set_no_delay(*fd);
      return fd;
    }
    errno = error;
    last = errno_error(format("cannot reach rank 0 at {}", address.to_string()));
  }
  return last;
}

// Rank 0 may be started after this one.
Result<net::Fd> connect(const RankPlace& place, const run::Control& control) {
  OsClock clock;
  const Instant until = clock.now() + place.patience;
  for (;;) {
    auto fd = connect_once(place);
    if (fd) return fd;
    if (asked_to_stop(control)) return stopped();
    if (clock.now() >= until) return fd.error();
    clock.sleep_until(clock.now() + kTryAgain);
  }
}

}  // namespace

Result<std::unique_ptr<RankSession>> follow(const RankPlace& place, const Agreement& mine,
                                            const run::Control& control) {
  ASSIGN_OR_RETURN(net::Fd fd, connect(place, control));
  auto follower = std::make_unique<Follower>(place, std::move(fd));
  TRY(follower->introduce(mine, control));
  return follower;
}

}  // namespace assay::ranks
