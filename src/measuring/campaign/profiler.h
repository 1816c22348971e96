// Profiler drives a server's own profiler around the measured phase (settings.profiling): it POSTs
// to /start_profile and /stop_profile of each endpoint, as the reference client does with vLLM, and
// stops only what it started. The calls are in profiling.json of the run folder, in that client's
// form. A call that fails never ends a run.
//
// Without a warm-up the start is sent, and answered, before the load. After a warm-up it is sent as
// the measured phase begins, from a thread of its own: the measuring thread only wakes it, so the
// first queries may be sent before the server has started its profile. A call takes 2 s at most.
//
// Several measuring threads may call its EventSink functions at once. The rest belongs to one
// thread.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "domain/quiet_sink.h"
#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::campaign {

class Profiler final : public QuietSink {
 public:
  Profiler(const plan::Config& config, const plan::PlanBundle& bundle, std::string ca_file);
  ~Profiler() override;
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // False: settings.profiling names no engine, and every other call does nothing.
  bool wanted() const { return !urls_.empty(); }
  // Before the load.
  void prepare();
  // After the load; `complete`: it was not interrupted.
  void stop(bool complete);

  // {"engine", "starts": [{"url", "sent_at_ns", "sent_at_iso", "status", "error"}], "stops": […]}.
  Json record() const;
  // What a person should know: the calls that failed.
  std::vector<std::string> troubles() const;

  void on_phase(const PhaseMark& mark) override;

 private:
  enum class Step : std::uint8_t { waiting, started, over };

  Json call(const std::string& url, bool start) const;
  void start_all();

  const plan::Config& config_;
  const Plan& plan_;
  std::string ca_file_;
  std::vector<std::string> urls_{};
  std::vector<Json> starts_{};
  std::vector<Json> stops_{};
  bool warmed_ = false;
  std::atomic<Step> step_{Step::waiting};
  std::thread starter_{};
};

}  // namespace assay::campaign
