#include "campaign/chaos/chaos_runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/reach.h"
#include "base/signals_blocked.h"
#include "base/text.h"
#include "net/url.h"
#include "plan/saved_config.h"

namespace assay::campaign {
namespace {

void make_readable(const net::Fd& fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(fd.get(), &one, sizeof one);
}

Result<void> check_deed(const plan::ChaosDeed& deed, std::string_view name) {
  if (deed.kind != plan::ChaosKind::http && no_programs()) {
    return invalid(
        format("--chaos: {}: {} is set, so no program of yours is started and none gets "
               "a signal",
               name, kNoPrograms));
  }
  if (deed.kind != plan::ChaosKind::http) return {};
  const auto url = net::parse_url(deed.url);
  if (!url) return url.error().within(format("--chaos: {}", name));
  return {};
}

// How long the phase issues queries at the most; max(): not known before the run.
Duration issued_for(const PhasePlan& phase) {
  Duration out = phase.stop.duration_max;
  if (phase.open_loop && !phase.arrivals.empty()) out = std::min(out, phase.arrivals.back());
  return out;
}

// The acts as the saved config has them, without secrets, each with its instant.
Json recorded_acts(const plan::Config& config, const std::vector<plan::ChaosAct>& acts) {
  Json out = Json::array();
  const Json saved = plan::config_to_json(config);
  for (std::size_t i = 0; i < acts.size(); ++i) {
    Json act = saved["settings"]["chaos"]["acts"][i];
    out.push_back(act.set("name", acts[i].name).set("at_ns", acts[i].at.ns));
  }
  return out;
}

}  // namespace

ChaosRunner::ChaosRunner(const plan::Config& config, std::vector<plan::ChaosAct> acts,
                         std::uint16_t phase, std::string ca_file, const Clock& clock)
    : config_(config),
      acts_(std::move(acts)),
      phase_(phase),
      ca_file_(std::move(ca_file)),
      clock_(clock),
      begun_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      over_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Result<std::unique_ptr<ChaosRunner>> ChaosRunner::open(const plan::Config& config, const Plan& plan,
                                                       std::string ca_file, const Clock& clock) {
  ASSIGN_OR_RETURN(auto acts, plan::parse_chaos(config.settings.chaos));
  const auto phase = std::ranges::find(plan.phases, PhaseKind::performance, &PhasePlan::kind);
  if (acts.empty() || phase == plan.phases.end()) return std::unique_ptr<ChaosRunner>();
  const Duration length = issued_for(*phase);
  for (const plan::ChaosAct& act : acts) {
    TRY(check_deed(act.deed, act.name));
    if (act.undo) TRY(check_deed(*act.undo, act.name));
    if (act.at < length) continue;
    return invalid(
        format("--chaos: {}: at {}, and the last query is issued after {}\n  make the "
               "run longer, or the act earlier",
               act.name, human_duration(act.at), human_duration(length)));
  }
  const auto number = static_cast<std::uint16_t>(phase - plan.phases.begin());
  std::unique_ptr<ChaosRunner> out(
      new ChaosRunner(config, std::move(acts), number, std::move(ca_file), clock));
  if (!out->begun_.open() || !out->over_.open()) return errno_error("eventfd");
  return out;
}

Result<void> ChaosRunner::start(const std::filesystem::path& file, std::string_view run_id) {
  TRY(make_folders(file.parent_path()));
  {
    const Lock lock(mutex_);
    file_.reset(std::fopen(file.c_str(), "we"));
    if (!file_) return errno_error(file.string());
    const std::string head = observe::chaos_head(run_id, recorded_acts(config_, acts_));
    if (std::fwrite(head.data(), 1, head.size(), file_.get()) != head.size() ||
        std::fflush(file_.get()) != 0) {
      return errno_error(file.string());
    }
  }
  const SignalsBlocked blocked;
  for (std::uint32_t i = 0; i < acts_.size(); ++i) {
    threads_.emplace_back([this, i] { do_act(i); });
  }
  return {};
}

void ChaosRunner::stop() {
  issued_.store(true);
  if (over_.open()) make_readable(over_);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const Lock lock(mutex_);
  file_.reset();
}

void ChaosRunner::on_phase(const PhaseMark& mark) {
  if (mark.phase != phase_) return;
  if (mark.step == PhaseStep::issue_ended) issued_.store(true);
  if (mark.step != PhaseStep::started) return;
  std::int64_t none = -1;
  if (start_ns_.compare_exchange_strong(none, mark.at.ns)) make_readable(begun_);
}

std::string ChaosRunner::wait_for(const plan::ChaosAct& act) {
  std::array<pollfd, 2> wanted{{{.fd = begun_.get(), .events = POLLIN, .revents = 0},
                                {.fd = over_.get(), .events = POLLIN, .revents = 0}}};
  while (::poll(wanted.data(), wanted.size(), -1) < 0 && errno == EINTR) {
  }
  if (wanted[0].revents == 0) return "the run ended before its measured phase";
  const Instant due = Instant{start_ns_.load()} + act.at;
  if (!wait_unless(over_.get(), due, clock_)) return "the run ended before its instant";
  return issued_.load() ? "its instant came when the last query had been issued" : "";
}

void ChaosRunner::write(const observe::ChaosStep& step) {
  observe::ChaosStep said = step;
  // A command may print the key that it was given.
  constexpr std::size_t kKeyMin = 8;  // shorter texts are words
  const std::string& key = config_.endpoint_config.api_key;
  for (std::size_t at = 0; key.size() >= kKeyMin;) {
    at = said.output.find(key, at);
    if (at == std::string::npos) break;
    said.output.replace(at, key.size(), "<redacted>");
  }
  const std::string line = observe::chaos_line(said);
  const Lock lock(mutex_);
  if (!step.error.empty()) {
    troubles_.push_back(format("chaos: {} {}: {}", acts_[step.act].name,
                               step.part == observe::ChaosPart::skipped ? "was not done" : "failed",
                               step.error));
  }
  if (!file_) return;
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
      std::fflush(file_.get()) == 0) {
    return;
  }
  troubles_.push_back(format("chaos: the record is not whole: {}", std::strerror(errno)));
  file_.reset();
}

void ChaosRunner::finish_step(std::uint32_t index, observe::ChaosPart part,
                              const DeedResult& result) {
  write({.act = index,
         .part = part,
         .at = clock_.now(),
         .exit_code = result.exit_code,
         .status = result.status,
         .output = result.output,
         .error = result.error});
}

void ChaosRunner::do_act(std::uint32_t index) {
  using observe::ChaosPart;
  const plan::ChaosAct& act = acts_[index];
  if (const std::string why = wait_for(act); !why.empty()) {
    return write({.act = index, .part = ChaosPart::skipped, .at = clock_.now(), .error = why});
  }
  const DeedLimits limits{.timeout = act.timeout, .stop = over_.get(), .ca_file = ca_file_};
  write({.act = index, .part = ChaosPart::begin, .at = clock_.now()});
  const DeedResult done = do_deed(act.deed, limits, clock_);
  finish_step(index, ChaosPart::end, done);
  if (act.lasts == Duration{}) return;
  plan::ChaosDeed undo = act.undo.value_or(act.deed);
  if (!act.undo) {
    if (!done.error.empty()) return;  // nothing was paused
    undo = {.kind = plan::ChaosKind::signal, .signal = SIGCONT, .pid = done.pid};
  }
  wait_unless(over_.get(), Instant{start_ns_.load()} + act.at + act.lasts, clock_);
  write({.act = index, .part = ChaosPart::undo, .at = clock_.now()});
  // Undone after the run's end too, for as long as it may take.
  finish_step(index, ChaosPart::undone,
              do_deed(undo, {.timeout = act.timeout, .ca_file = ca_file_}, clock_));
}

std::vector<std::string> ChaosRunner::troubles() const {
  const Lock lock(mutex_);
  return troubles_;
}

}  // namespace assay::campaign
