#include "ranks/leader.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "net/socket.h"
#include "ranks/line.h"
#include "ranks/messages.h"

namespace assay::ranks {
namespace {

// How far ahead the start is: the ranks hear of it and compare clocks once more.
constexpr Duration kStartAhead = 1_s;
constexpr Duration kLook = 50_ms;
constexpr Duration kFarewellMax = 1_s;
constexpr int kLookMs = 50;
// Connections at once: ranks, and a few of anybody who tries the port.
constexpr std::size_t kStrangersMax = 16;

// What rank 0 knows of one rank. The index is its rank; rank 0's own entry is unused.
struct Known {
  bool joined = false;
  bool ready = false;
  bool ended = false;
  std::string host{};
  std::string lost{};  // why; "" while it is there
};

class Leader final : public RankSession {
 public:
  Leader(const RankPlace& place, Agreement mine, std::string run_id, net::Fd listener)
      : place_(place),
        mine_(std::move(mine)),
        run_id_(std::move(run_id)),
        listener_(std::move(listener)),
        ranks_(place.count),
        thread_([this] { serve(); }) {}
  ~Leader() override {
    over_ = true;
    thread_.join();
  }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  Result<void> gather(const run::Control& control) {
    return wait_for_all(&Known::joined, "did not come", control);
  }
  const std::string& run_id() const override { return run_id_; }

  Result<Instant> start(const run::Control& control) override {
    TRY(wait_for_all(&Known::ready, "was not ready", control));
    const Instant at = clock_.now() + kStartAhead;
    const Lock lock(mutex_);
    started_ = true;
    said_ = Json().set("start", at.ns);
    return at;
  }

  std::vector<record::ClockProbe> probes() override { return {}; }
  std::vector<record::ClockProbe> after_load() override { return {}; }

  std::vector<LostRank> leave(const RunEnd&, const run::Control& control) override {
    while (control.request() != run::Control::Request::stop) {
      Lock lock(mutex_);
      const bool all = std::ranges::all_of(
          ranks_.begin() + 1, ranks_.end(),
          [](const Known& known) { return known.ended || !known.lost.empty(); });
      if (all) break;
      changed_.wait_for(lock, kLook);
    }
    const Lock lock(mutex_);
    std::vector<LostRank> out;
    for (std::uint32_t rank = 1; rank < ranks_.size(); ++rank) {
      const Known& known = ranks_[rank];
      if (known.ended) continue;
      out.push_back(
          {rank, known.host,
           known.lost.empty() ? "it was still busy when rank 0 was stopped" : known.lost});
    }
    return out;
  }

 private:
  struct Peer {
    explicit Peer(net::Fd fd, Instant now) : line(std::move(fd)), heard(now) {}
    Line line;
    std::uint32_t rank = 0;  // 0: it has not said
    Instant heard;
    bool over = false;
  };

  Result<void> wait_for_all(bool Known::*reached, const char* failing,
                            const run::Control& control) {
    const Instant until = clock_.now() + place_.patience;
    Lock lock(mutex_);
    for (;;) {
      std::string missing;
      for (std::uint32_t rank = 1; rank < ranks_.size(); ++rank) {
        const Known& known = ranks_[rank];
        if (!known.lost.empty() && failed_.empty()) {
          failed_ = format("{}: {}, before the start", rank_name(rank, known.host), known.lost);
        }
        if (known.*reached) continue;
        missing += (missing.empty() ? "" : ", ") + rank_name(rank, known.host);
      }
      if (missing.empty() && failed_.empty()) return {};
      if (failed_.empty() && control.request() != run::Control::Request::none) {
        failed_ = "rank 0 was asked to stop";
      }
      if (failed_.empty() && clock_.now() >= until) {
        failed_ = format(
            "{} {} within {}\n  all ranks need the same --rendezvous, and a way to it "
            "(--rank-timeout waits longer)",
            missing, failing, human_duration(place_.patience));
      }
      if (!failed_.empty()) {
        said_ = Json().set("abort", failed_);
        return Error{Code::timed_out, failed_};
      }
      changed_.wait_for(lock, kLook);
    }
  }

  // The thread: everything that is sent is sent here.
  void serve() {
    std::list<Peer> peers;
    Json repeated;  // the last broadcast, for who joins later
    while (!over_) {
      look(peers);
      Json said;
      {
        const Lock lock(mutex_);
        said = std::move(said_);
        said_ = Json();
      }
      if (!said.is_null()) {
        for (Peer& peer : peers) {
          if (peer.rank != 0 && !peer.line.send(said)) lose(peer, "its connection broke");
        }
      }
      drop_silent(peers);
      peers.remove_if([](const Peer& peer) { return peer.over; });
    }
    farewell(peers);
  }

  // Those who wait for the start or for the last word are not left in the dark.
  void farewell(std::list<Peer>& peers) {
    Json said;
    {
      const Lock lock(mutex_);
      said.set("abort", !failed_.empty() ? failed_
                        : started_       ? "rank 0 ended before this rank"
                                         : "rank 0 ended before the start");
    }
    for (Peer& peer : peers) {
      // It may be gone already.
      static_cast<void>(peer.line.send(said));
    }
    const Instant until = clock_.now() + kFarewellMax;
    for (Peer& peer : peers) {
      if (peer.rank != 0) peer.line.finish(until);
    }
  }

  void look(std::list<Peer>& peers) {
    std::vector<pollfd> wanted{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const Peer& peer : peers) wanted.push_back({peer.line.fd(), POLLIN, 0});
    if (::poll(wanted.data(), wanted.size(), kLookMs) <= 0) return;
    std::size_t i = 1;
    for (Peer& peer : peers) {
      if (wanted[i++].revents != 0) hear(peer);
    }
    if (wanted[0].revents == 0) return;
    auto fd = net::accept_one(listener_);
    if (!fd || !fd->open() || peers.size() >= place_.count + kStrangersMax) return;
    net::set_no_delay(*fd);
    peers.emplace_back(*std::move(fd), clock_.now());
  }

  void hear(Peer& peer) {
    while (!peer.over) {
      const auto heard = peer.line.receive(Instant{});
      if (!heard) return lose(peer, heard.error().message);
      if (!*heard) return;
      peer.heard = (**heard).at;
      answer(peer, **heard);
    }
  }

  void answer(Peer& peer, const Heard& heard) {
    const Json& said = heard.message;
    if (peer.rank == 0) return welcome(peer, said);
    if (said.find("probe") != nullptr) {
      Json echo;
      echo.set("echo", said["probe"]).set("received", heard.at.ns);
      echo.set("answered", clock_.now().ns);
      if (!peer.line.send(echo)) lose(peer, "its connection broke");
      return;
    }
    const Lock lock(mutex_);
    Known& known = ranks_[peer.rank];
    if (said.find("ready") != nullptr) known.ready = true;
    if (said.find("end") != nullptr) {
      known.ended = true;
      peer.over = true;
      static_cast<void>(peer.line.send(Json().set("bye", 1)));
    }
    changed_.notify_all();
  }

  // A stranger is sent away, and the run goes on; a rank that does not agree ends the run.
  void welcome(Peer& peer, const Json& said) {
    const std::uint64_t rank = said["rank"].as_uint();
    if (said["hello"].as_int() != 1) {
      peer.over = true;
      return;
    }
    const Lock lock(mutex_);
    std::string why;
    if (said["of"].as_uint() != place_.count || rank == 0 || rank >= place_.count) {
      why = format("rank {} of {} came, and this run has {}", rank, said["of"].as_uint(),
                   place_.count);
    } else if (ranks_[rank].joined) {
      why = format("rank {} came twice", rank);
    } else {
      why = disagreement(
          said, rank_name(static_cast<std::uint32_t>(rank), std::string(said["host"].as_string())));
    }
    if (!why.empty()) {
      static_cast<void>(peer.line.send(Json().set("abort", why)));
      peer.over = true;
      if (!started_ && failed_.empty()) failed_ = why;
    } else {
      peer.rank = static_cast<std::uint32_t>(rank);
      ranks_[rank].joined = true;
      ranks_[rank].host = said["host"].as_string();
      if (!peer.line.send(Json().set("welcome", run_id_))) peer.over = true;
    }
    changed_.notify_all();
  }

  std::string disagreement(const Json& said, const std::string& name) const {
    if (said["version"].as_string() != mine_.version) {
      return format("{} is Assay {}, and rank 0 is {}", name, said["version"].as_string(),
                    mine_.version);
    }
    if (said["threads"].as_uint() != mine_.threads) {
      return format("{} has --threads {}, and rank 0 has {}", name, said["threads"].as_uint(),
                    mine_.threads);
    }
    if (said["digest"].as_string() != mine_.plan_digest) {
      return format("{} has another plan than rank 0: its config, flags or dataset differ", name);
    }
    return {};
  }

  void lose(Peer& peer, std::string_view why) {
    peer.over = true;
    if (peer.rank == 0) return;
    const Lock lock(mutex_);
    Known& known = ranks_[peer.rank];
    if (!known.ended && known.lost.empty()) known.lost = why;
    changed_.notify_all();
  }

  void drop_silent(std::list<Peer>& peers) {
    {
      const Lock lock(mutex_);
      if (!started_) return;
    }
    const Instant now = clock_.now();
    for (Peer& peer : peers) {
      if (!peer.over && now - peer.heard > kSilenceMax) {
        lose(peer, format("nothing came from it for {}", human_duration(kSilenceMax)));
      }
    }
  }

  const RankPlace place_;
  const Agreement mine_;
  const std::string run_id_;
  const OsClock clock_{};
  net::Fd listener_;
  Mutex mutex_{};
  Condition changed_{};
  std::vector<Known> ranks_ GUARDED_BY(mutex_);
  std::string failed_ GUARDED_BY(mutex_){};
  Json said_ GUARDED_BY(mutex_){};  // to send to all
  bool started_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<RankSession>> lead(const RankPlace& place, const Agreement& mine,
                                          std::string run_id, const run::Control& control) {
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(place.host, place.port));
  ASSIGN_OR_RETURN(net::Fd listener, net::listen_on(addresses.front(), {}));
  auto leader = std::make_unique<Leader>(place, mine, std::move(run_id), std::move(listener));
  TRY(leader->gather(control));
  return leader;
}

}  // namespace assay::ranks
