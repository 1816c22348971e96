#include "pipeline/runner.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "pipeline/command_line.h"
#include "pipeline/journal.h"
#include "pipeline/process.h"
#include "pipeline/state_file.h"

namespace assay::pipeline {
namespace fs = std::filesystem;
namespace {

constexpr Duration kPublishEvery{
    1'000'000'000};  // at once when only people and files are waited for
constexpr Duration kLookForActs{300'000'000};
constexpr Duration kLookForFiles{1'000'000'000};
constexpr Duration kGrace{10'000'000'000};  // from SIGTERM to SIGKILL
constexpr std::size_t kWhyMax = 20;

// SIGCHLD and the ending signals, blocked while it lives and taken one by one.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    for (const int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set_, one);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() {
    const timespec now{};
    while (::sigtimedwait(&set_, nullptr, &now) > 0) {
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The number of an ending signal, SIGCHLD, or -1 after `longest`.
  int wait(Duration longest) const {
    const std::int64_t ns = std::max<std::int64_t>(longest.ns, 0);
    const timespec until{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    return ::sigtimedwait(&set_, nullptr, &until);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

struct Running {
  pid_t pid = -1;
  std::uint32_t round = 0;
  Instant began{};
  std::optional<Instant> term_at{};
  std::optional<Instant> kill_at{};
  std::string why{};  // it was stopped for this
  std::string box{};  // a container's name
};

class Runner {
 public:
  Runner(const Pipeline& pipeline, const RunSettings& settings, Clock& clock, Journal journal)
      : pipeline_(pipeline),
        settings_(settings),
        clock_(clock),
        journal_(std::move(journal)),
        graph_(graph_of(pipeline)),
        places_(pipeline, settings.folder, settings.work) {}
  ~Runner() {
    for (auto& [at, one] : running_) {
      signal_group(one.pid, SIGKILL);
      ::waitpid(one.pid, nullptr, 0);
    }
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Result<RunEnd> run();

 private:
  Result<std::vector<std::string>> partitions() const;
  Result<void> begin();
  Result<void> start(std::size_t at);
  Result<void> end_one(std::size_t at, int status);
  Result<void> reap();
  Result<void> look_at_waiting();
  Result<bool> look_at(std::size_t at);
  Result<bool> look_at_conditions(std::size_t at);
  Result<bool> look_at_file(std::size_t at);
  Result<void> read_acts();
  void stop_late();
  void stop_all(std::string_view why, bool now);
  Instant publish_at() const { return running_.empty() ? published_ : published_ + kPublishEvery; }
  Result<void> publish(bool at_end);
  Duration until_next() const;
  bool is_idle() const;
  RunEnd end() const;
  void remove_box(const std::string& box) const;

  const Pipeline& pipeline_;
  const RunSettings& settings_;
  Clock& clock_;
  Journal journal_;
  Graph graph_;
  Places places_;
  Ledger ledger_{};
  std::optional<Engine> engine_{};
  Signals signals_{};
  std::map<std::size_t, Running> running_{};
  std::map<std::size_t, Instant> looks_{};  // of each waiting one: when it is looked at next
  std::map<std::size_t, std::string> unsettled_{};  // files that may still be written: their digest
  std::uintmax_t acts_bytes_ = 0;
  std::size_t acts_read_ = 0;
  Instant acts_at_{};
  Instant published_{};
  bool dirty_ = true;
  bool stopping_ = false;
  std::uint64_t started_ = 0;
  std::uint64_t leftovers_ = 0;
};

Result<std::vector<std::string>> Runner::partitions() const {
  const auto& def = pipeline_.site.partition_def;
  const bool any =
      std::ranges::any_of(pipeline_.steps, [](const Step& step) { return step.partition; });
  if (!def || !any) return std::vector<std::string>{};
  if (def->type != PartitionType::function) return places_.partitions();
  if (!settings_.code_partitions) {
    return invalid(
        format("{}:{}: partition_def: {} is Python of the pipeline's author\n"
               "  --allow-code runs it in a jail; a site's file can name the "
               "partitions without code",
               pipeline_.name, def->line, def->function));
  }
  ASSIGN_OR_RETURN(auto names, settings_.code_partitions(*def, places_));
  return checked_partitions(std::move(names));
}

Result<void> Runner::begin() {
  for (const Condition& one : pipeline_.site.conditions) {
    const bool asked = std::ranges::any_of(pipeline_.steps, [&](const Step& step) {
      return std::ranges::any_of(step.next.branches,
                                 [&](const Branch& branch) { return branch.condition == one.id; });
    });
    if (one.type != ConditionType::function || !asked || settings_.code_condition) continue;
    return invalid(
        format("{}:{}: conditions.{}: {} is Python of the pipeline's author\n"
               "  --allow-code runs it in a jail; a site's file can say it without code",
               pipeline_.name, one.line, one.id, one.function));
  }
  TRY(places_.check());
  for (const Step& step : pipeline_.steps) {
    if (step.type != StepType::container) continue;
    TRY(launch_of(pipeline_, places_, step, {}, settings_.container_engine, {}));
  }
  ASSIGN_OR_RETURN(auto names, partitions());
  std::set<std::string> open;  // containers that were not seen to end
  for (const Json& record : journal_.records()) {
    ledger_.add(record, pipeline_, graph_);
    const std::string box(record["box"].as_string());
    if (box.empty()) continue;
    if (record["t"].as_string() == "start") {
      open.insert(box);
    } else {
      open.erase(box);
    }
  }
  journal_.drop_records();
  leftovers_ = end_leftovers(places_.work().string());
  for (const std::string& box : open) remove_box(box);
  TRY(read_acts());
  engine_.emplace(pipeline_, graph_, std::move(names), ledger_, places_.eyes());
  return {};
}

void Runner::remove_box(const std::string& box) const {
  if (settings_.container_engine.empty() || box.empty()) return;
  const auto pid = launch({.words = {settings_.container_engine, "rm", "--force", box},
                           .folder = places_.folder(),
                           .log = settings_.work / "logs" / "containers.log"});
  if (pid) ::waitpid(*pid, nullptr, 0);
}

Result<void> Runner::start(std::size_t at) {
  const Step& step = engine_->step_of(at);
  const std::string& partition = engine_->partition_of(at);
  const Instance& instance = engine_->instance(at);
  const bool boxed = step.type == StepType::container && !settings_.container_engine.empty() &&
                     !pipeline_.site.images.contains(step.image);
  const std::string box =
      boxed ? format("assay-{}-{}", instance.key.substr(0, 16), journal_.count()) : "";
  TRY(folders_for(places_, step));
  ASSIGN_OR_RETURN(Launch wanted,
                   launch_of(pipeline_, places_, step, partition, settings_.container_engine, box));
  TRY(make_folders(wanted.log.parent_path()));
  Json record = Json()
                    .set("t", "start")
                    .set("step", step.id)
                    .set("part", partition)
                    .set("key", instance.key)
                    .set("try", instance.attempts);
  if (!box.empty()) record.set("box", box);
  TRY(journal_.append(record));
  ASSIGN_OR_RETURN(const pid_t pid, launch(wanted));
  ++started_;
  Running one{.pid = pid, .round = instance.round, .began = clock_.now(), .box = box};
  if (step.timeout > Duration{}) one.term_at = one.began + step.timeout;
  running_.emplace(at, std::move(one));
  dirty_ = true;
  return {};
}

Result<void> Runner::end_one(std::size_t at, int status) {
  Running one = std::move(running_.at(at));
  running_.erase(at);
  signal_group(one.pid, SIGKILL);  // what it left
  if (!one.box.empty() && !one.why.empty()) remove_box(one.box);
  dirty_ = true;
  const Instance& instance = engine_->instance(at);
  // A loop began a new round meanwhile: this one counts for nothing.
  if (instance.round != one.round || instance.status != Status::running) return {};
  const Step& step = engine_->step_of(at);
  std::string why = one.why.empty() ? end_text(status) : one.why;
  std::string outputs;
  if (why.empty() && !step.outputs.empty()) {
    ASSIGN_OR_RETURN(outputs, places_.outputs_digest(step, engine_->partition_of(at)));
    if (outputs.starts_with("missing ")) why = "it ended well, but its output is " + outputs;
  }
  const std::string token = outputs.empty() ? format("#{}", journal_.count()) : outputs;
  Json record = Json()
                    .set("t", why.empty() ? "done" : "fail")
                    .set("step", step.id)
                    .set("part", engine_->partition_of(at))
                    .set("key", instance.key);
  if (!one.box.empty()) record.set("box", one.box);
  if (why.empty()) {
    record.set("token", token).set("outputs", outputs);
  } else {
    record.set("why", why);
  }
  record.set("ms", (clock_.now() - one.began).ns / 1'000'000);
  TRY(journal_.append(record));
  if (why.empty()) {
    engine_->finish(at, token);
  } else {
    engine_->fail(at, std::move(why), !stopping_);
  }
  return {};
}

Result<void> Runner::reap() {
  std::vector<std::pair<std::size_t, int>> ended;
  for (const auto& [at, one] : running_) {
    int status = 0;
    if (::waitpid(one.pid, &status, WNOHANG) == one.pid) ended.emplace_back(at, status);
  }
  for (const auto& [at, status] : ended) TRY(end_one(at, status));
  return {};
}

// The first condition that holds chooses.
Result<bool> Runner::look_at_conditions(std::size_t at) {
  const Step& step = engine_->step_of(at);
  const std::string& partition = engine_->partition_of(at);
  const std::vector<std::string>* to = nullptr;
  for (const Branch& branch : step.next.branches) {
    const Condition& condition = *pipeline_.find_condition(branch.condition);
    bool holds = false;
    if (condition.type == ConditionType::function) {
      const auto said = settings_.code_condition(condition, places_, step, partition);
      if (!said) return said.error();
      holds = *said;
    } else {
      holds = places_.holds(condition, step, partition);
    }
    if (!holds) continue;
    to = &branch.targets;
    break;
  }
  if (to == nullptr && !step.next.otherwise.empty()) to = &step.next.otherwise;
  looks_[at] = clock_.now() + step.next.wait;
  if (to == nullptr) return false;
  TRY(journal_.append(Json()
                          .set("t", "choice")
                          .set("step", step.id)
                          .set("part", partition)
                          .set("key", engine_->choice_key(at))
                          .set("to", json_list(*to))));
  engine_->choose(at, *to);
  return true;
}

// A file counts when two looks see the same: it may still be written.
Result<bool> Runner::look_at_file(std::size_t at) {
  const Step& step = engine_->step_of(at);
  const std::string& partition = engine_->partition_of(at);
  looks_[at] = clock_.now() + kLookForFiles;
  if (!places_.holds(step.file, step, partition)) {
    unsettled_.erase(at);
    return false;
  }
  ASSIGN_OR_RETURN(std::string now, places_.outputs_digest(step, partition));
  const auto before = unsettled_.find(at);
  if (before == unsettled_.end() || before->second != now) {
    unsettled_[at] = std::move(now);
    return false;
  }
  unsettled_.erase(at);
  TRY(journal_.append(Json()
                          .set("t", "done")
                          .set("step", step.id)
                          .set("part", partition)
                          .set("key", engine_->instance(at).key)
                          .set("token", now)
                          .set("outputs", now)));
  engine_->finish(at, std::move(now));
  return true;
}

Result<bool> Runner::look_at(std::size_t at) {
  if (engine_->instance(at).choosing) return look_at_conditions(at);
  if (engine_->step_of(at).type == StepType::wait_for_file) return look_at_file(at);
  looks_[at] = clock_.now() + kLookForActs;  // an approval comes through the acts
  return false;
}

Result<void> Runner::look_at_waiting() {
  const std::set<std::size_t> waiting = engine_->waiting();
  std::erase_if(looks_, [&](const auto& one) { return !waiting.contains(one.first); });
  for (const std::size_t at : waiting) {
    if (stopping_) break;
    const auto [look, is_new] = looks_.try_emplace(at, clock_.now());
    dirty_ = dirty_ || is_new;
    if (look->second > clock_.now()) continue;
    ASSIGN_OR_RETURN(const bool went_on, look_at(at));
    if (went_on) looks_.erase(at);
    dirty_ = dirty_ || went_on;
  }
  return {};
}

Result<void> Runner::read_acts() {
  acts_at_ = clock_.now() + kLookForActs;
  const fs::path path = settings_.work / "acts";
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes == acts_bytes_) return {};
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto acts = read_journal(text);
  if (!acts) return acts.error().within(path.string());
  acts_bytes_ = acts->bytes;
  for (; acts_read_ < acts->records.size(); ++acts_read_) {
    ledger_.add(acts->records[acts_read_], pipeline_, graph_);
  }
  if (engine_) engine_->look_at_decisions();
  dirty_ = true;
  return {};
}

void Runner::stop_all(std::string_view why, bool now) {
  stopping_ = true;
  for (auto& [at, one] : running_) {
    one.why = why;
    signal_group(one.pid, now ? SIGKILL : SIGTERM);
    one.term_at.reset();
    one.kill_at = clock_.now() + kGrace;
  }
}

// Those beyond their time, and those of a round that is over.
void Runner::stop_late() {
  const Instant now = clock_.now();
  for (auto& [at, one] : running_) {
    const bool over = engine_->instance(at).round != one.round;
    if ((one.term_at && *one.term_at <= now) || (over && !one.kill_at)) {
      one.why = over ? "a new round began"
                     : format("ran longer than {:g} s", engine_->step_of(at).timeout.seconds());
      signal_group(one.pid, SIGTERM);
      one.term_at.reset();
      one.kill_at = now + kGrace;
    } else if (one.kill_at && *one.kill_at <= now) {
      signal_group(one.pid, SIGKILL);
      one.kill_at = now + kGrace;
    }
  }
}

bool Runner::is_idle() const {
  if (!running_.empty() || (!stopping_ && engine_->has_ready())) return false;
  if (stopping_ || engine_->waiting().empty()) return true;
  if (settings_.waits || !unsettled_.empty()) return false;
  const Instant now = clock_.now();
  return std::ranges::all_of(engine_->waiting(), [&](std::size_t at) {
    const auto look = looks_.find(at);
    return look != looks_.end() && look->second > now;
  });
}

Duration Runner::until_next() const {
  const Instant now = clock_.now();
  Duration out = kLookForActs;
  const auto earlier = [&](Instant at) { out = std::min(out, at - now); };
  for (const auto& [at, look] : looks_) earlier(look);
  for (const auto& [at, one] : running_) {
    if (one.term_at) earlier(*one.term_at);
    if (one.kill_at) earlier(*one.kill_at);
  }
  if (dirty_) earlier(publish_at());
  return std::max(out, Duration{});
}

Result<void> Runner::publish(bool at_end) {
  if (!at_end && (!dirty_ || clock_.now() < publish_at())) return {};
  TRY(journal_.sync());
  TRY(write_state(settings_.work, pipeline_, *engine_, !at_end, settings_.report));
  published_ = clock_.now();
  dirty_ = false;
  return {};
}

RunEnd Runner::end() const {
  RunEnd out{.interrupted = stopping_,
             .counts = engine_->counts(),
             .started = started_,
             .leftovers = leftovers_};
  std::uint64_t open = 0;
  for (const Counts& one : out.counts) {
    out.waiting += one.waiting;
    out.failed += one.failed;
    open += one.total - one.done - one.skipped;
  }
  out.complete = open == 0;
  for (std::size_t at = 0; at < engine_->size() && out.why.size() < kWhyMax; ++at) {
    if (engine_->instance(at).status != Status::failed) continue;
    const std::string& partition = engine_->partition_of(at);
    out.why.push_back(format("{}{}{}: {}", engine_->step_of(at).id, partition.empty() ? "" : " of ",
                             partition, engine_->instance(at).why));
  }
  return out;
}

Result<RunEnd> Runner::run() {
  TRY(begin());
  for (;;) {
    engine_->advance();
    if (!stopping_) {
      const std::size_t busy = running_.size();
      for (const std::size_t at :
           engine_->take_ready(settings_.jobs > busy ? settings_.jobs - busy : 0)) {
        TRY(start(at));
      }
    }
    TRY(look_at_waiting());
    engine_->advance();
    TRY(publish(false));
    if (is_idle()) break;
    stop_late();
    const bool more = !stopping_ && engine_->has_ready() && running_.size() < settings_.jobs;
    const int signal = signals_.wait(more ? Duration{} : until_next());
    if (signal > 0 && signal != SIGCHLD) stop_all("the run was stopped", stopping_);
    TRY(reap());
    if (clock_.now() >= acts_at_) TRY(read_acts());
  }
  TRY(publish(true));
  return end();
}

}  // namespace

fs::path log_path(const fs::path& work, const std::string& step, const std::string& partition) {
  const std::string name = partition.empty() ? "all" : plain_id_from(partition);
  return work / "logs" / step / (name + ".log");
}

Result<void> append_act(const fs::path& work, const Json& record) {
  ASSIGN_OR_RETURN(Journal acts, Journal::open(work / "acts"));
  TRY(acts.append(record));
  return acts.sync();
}

bool is_running(const fs::path& work) {
  const File file(std::fopen((work / "journal").c_str(), "r"));
  return file != nullptr && ::flock(::fileno(file.get()), LOCK_SH | LOCK_NB) != 0;
}

Result<RunEnd> run_pipeline(const Pipeline& pipeline, const RunSettings& settings, Clock& clock) {
  TRY(make_folders(settings.work / "logs"));
  ASSIGN_OR_RETURN(Journal journal, Journal::open(settings.work / "journal"));
  return Runner(pipeline, settings, clock, std::move(journal)).run();
}

}  // namespace assay::pipeline
