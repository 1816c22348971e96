// ChaosRunner does a run's acts (plan/chaos.h) while the load goes on, and writes each step to
// assay/chaos.jsonl of the run folder as it happens (observe/chaos_log.h).
//
// Each act has a thread of its own, so a command that takes long holds up no other act; the threads
// sleep until their instant, which counts from the start of the first measured phase. The measuring
// thread only writes to one descriptor when that phase begins. An act whose instant comes when the
// phase's last query has been issued is not done. What an act has changed is undone at the latest
// when the run ends; only a run that is itself killed leaves a paused process paused.
//
// Several measuring threads may call its EventSink functions at once. The rest belongs to one
// thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/mutex.h"
#include "base/result.h"
#include "campaign/chaos/deed.h"
#include "domain/plan.h"
#include "domain/quiet_sink.h"
#include "net/socket.h"
#include "observe/chaos_log.h"
#include "plan/config.h"

namespace assay::campaign {

class ChaosRunner final : public QuietSink {
 public:
  // nullptr: the config has no acts, or the plan measures nothing. Invalid where an act's instant
  // lies beyond what the plan issues.
  static Result<std::unique_ptr<ChaosRunner>> open(const plan::Config& config, const Plan& plan,
                                                   std::string ca_file, const Clock& clock);
  ~ChaosRunner() override { stop(); }
  ChaosRunner(const ChaosRunner&) = delete;
  ChaosRunner& operator=(const ChaosRunner&) = delete;

  // Before the load.
  Result<void> start(const std::filesystem::path& file, std::string_view run_id);
  // After the load. Waits for the acts under way: a call takes its own time limit at most.
  void stop();
  // After stop(), for a person: the acts that failed and those that were not done.
  std::vector<std::string> troubles() const;

  void on_phase(const PhaseMark& mark) override;

 private:
  ChaosRunner(const plan::Config& config, std::vector<plan::ChaosAct> acts, std::uint16_t phase,
              std::string ca_file, const Clock& clock);

  void do_act(std::uint32_t index);
  // Waits for the act's instant; "" where it is to be done, else why it is not.
  std::string wait_for(const plan::ChaosAct& act);
  void finish_step(std::uint32_t index, observe::ChaosPart part, const DeedResult& result);
  void write(const observe::ChaosStep& step);

  const plan::Config& config_;
  const std::vector<plan::ChaosAct> acts_;
  const std::uint16_t phase_;
  const std::string ca_file_;
  const Clock& clock_;
  net::Fd begun_{};  // readable when the phase has begun
  net::Fd over_{};   // readable when the run is over
  std::atomic<std::int64_t> start_ns_{-1};
  std::atomic<bool> issued_{false};
  std::vector<std::thread> threads_{};
  mutable Mutex mutex_{};
  File file_ GUARDED_BY(mutex_){};
  std::vector<std::string> troubles_ GUARDED_BY(mutex_){};
};

}  // namespace assay::campaign
