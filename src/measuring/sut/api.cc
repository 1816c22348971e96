// LoadGen's functions, over this room's objects. What a callback throws passes through StartTest to
// the program that gave the callback: it is that program's, and its own to catch.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/conf_file.h"
#include "loadgen/detail_log.h"
#include "sut/log_files.h"
#include "sut/mlperf/loadgen.h"
#include "sut/mlperf/query_dispatch_library.h"
#include "sut/mlperf/query_sample_library.h"
#include "sut/mlperf/system_under_test.h"
#include "sut/mlperf/test_settings.h"
#include "sut/process.h"
#include "sut/settings_copy.h"
#include "sut/test_run.h"
#include "sut/watch.h"

namespace assay::sut {
namespace {

constexpr std::size_t kConfMax = std::size_t{1} << 20;

// By the environment, because the program that starts a test was written for another library.
TestOptions options_of_environment(LogFiles& log) {
  TestOptions out;
  if (const char* const seconds = std::getenv("ASSAY_LOADGEN_TIMEOUT_S")) {
    char* end = nullptr;
    const double value = std::strtod(seconds, &end);
    if (end != seconds && *end == '\0' && value > 0 && value < 1e9) {
      out.idle_max = Duration::from_seconds(value);
    } else {
      log.error("error_invalid_config",
                "ASSAY_LOADGEN_TIMEOUT_S must be a number of seconds above 0");
    }
  }
  if (const char* const folder = std::getenv("ASSAY_LOADGEN_RUN_FOLDER")) {
    out.run_folder = folder;
  }
  return out;
}

AccuracyForm form_of(const mlperf::TestSettings& settings) {
  if (!settings.use_token_latencies) return AccuracyForm::plain;
  return settings.scenario == mlperf::TestScenario::Offline ? AccuracyForm::tokens
                                                            : AccuracyForm::first_tokens;
}

// Reads an audit's file over the settings, if there is one.
void apply_audit(const std::string& path, mlperf::TestSettings& settings, LogFiles& log) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  log.detail(
      "warning_generic_message",
      loadgen::detail_value("Found Audit Config file (audit.config). Overriding TestSettings from "
                            "audit.config file."),
      Severity::warning);
  settings.FromConfig(path, "*",
                      std::string(to_string(static_cast<loadgen::Scenario>(settings.scenario))), 2);
  Process::instance().write_notes(log);
}

// Completed samples, of all desks: a number that changes with each of them.
std::uint64_t completed_samples() {
  std::uint64_t out = 0;
  for (std::uint32_t i = 0; i < Process::kDesks; ++i) {
    if (const Desk* const desk = Process::instance().find_desk(static_cast<std::uint8_t>(i))) {
      out += desk->completed();
    }
  }
  return out;
}

// A callback never returns, so this test never ends and no thread of ours can leave it: the logs
// say why, and the process ends.
void give_up(const std::string& why, LogFiles& log) {
  const std::string text = why + " (ASSAY_LOADGEN_TIMEOUT_S). The process ends.";
  log.error("error_runtime", text);
  log.summary("Result is : INVALID\n  " + text + "\n" +
              loadgen::summary_trailer(log.warnings(), log.errors()));
  log.close();
  std::fputs(("LoadGen: " + text + "\n").c_str(), stderr);
  std::_Exit(1);
}

void run_logged(mlperf::SystemUnderTest& sut, mlperf::QuerySampleLibrary& library,
                const mlperf::TestSettings& requested, const std::string& date_time,
                const std::string& audit, LogFiles& log) {
  Process& process = Process::instance();
  const Clock& clock = process.clock();
  const TestOptions options = options_of_environment(log);
  process.write_notes(log);
  Watch watch(clock, options.idle_max, completed_samples,
              [&log](const std::string& why) { give_up(why, log); });
  watch.start();
  const Instant asked_at = clock.now();
  const std::string name = [&] {
    const Watch::Call call(watch.own(), "Name", asked_at);
    return sut.Name();
  }();
  const std::int64_t took = (clock.now() - asked_at).ns;
  loadgen::say_version(log.say());
  log.line("test_datetime", date_time);
  log.line("sut_name", name);
  log.line("get_sut_name_duration_ns", took);
  const auto [library_name, counts] = [&] {
    const Watch::Call call(watch.own(), "a call of the sample library", clock.now());
    return std::pair(library.Name(), loadgen::SampleLibrary{library.TotalSampleCount(),
                                                            library.PerformanceSampleCount()});
  }();
  log.line("qsl_name", library_name);
  log.line("qsl_reported_total_count", counts.total);
  log.line("qsl_reported_performance_count", counts.performance);
  mlperf::TestSettings asked = requested;
  apply_audit(audit, asked, log);
  if (asked.test05) {
    log.detail("warning_generic_message",
               loadgen::detail_value("Test05 flag detected Overriding random seeds"),
               Severity::warning);
  }
  const auto settings = loadgen::effective(settings_of(asked), counts);
  if (!settings) {
    return log.error("error_invalid_test_settings", settings.error().message);
  }
  loadgen::say_settings(*settings,
                        {.find_peak_decimals = asked.server_find_peak_qps_decimals_of_precision,
                         .find_peak_step = asked.server_find_peak_qps_boundary_step_size,
                         .issue_threads = asked.server_num_issue_query_threads},
                        log.say());
  TestRun run(process, sut, library, asked, *settings, options, watch, log);
  if (const auto done = run.run(); !done) log.error("error_runtime", done.error().message);
}

// Holds the one test of a process.
class RunningTest {
 public:
  RunningTest() : holds_(Process::instance().begin_test()) {}
  ~RunningTest() {
    if (!holds_) return;
    Process::instance().issue_threads().dismiss();
    Process::instance().end_test();
  }
  RunningTest(const RunningTest&) = delete;
  RunningTest& operator=(const RunningTest&) = delete;
  bool holds() const { return holds_; }

 private:
  const bool holds_;
};

void start_test(mlperf::SystemUnderTest& sut, mlperf::QuerySampleLibrary& library,
                const mlperf::TestSettings& settings, const mlperf::LogSettings& logs,
                const std::string& audit) {
  const RunningTest running;
  if (!running.holds()) {
    std::fputs("LoadGen: a test runs in this process already.\n", stderr);
    return;
  }
  const std::string date_time = loadgen::local_time(wall_now());
  auto log = LogFiles::open(logs, date_time, Process::instance().clock(), form_of(settings));
  if (!log) {
    std::fputs(format("LoadGen: Failed to open {}.\n", log.error().message).c_str(), stderr);
    return;
  }
  std::exception_ptr fault;
  try {
    run_logged(sut, library, settings, date_time, audit, **log);
  } catch (const std::exception& error) {
    fault = std::current_exception();
    (*log)->error("error_runtime", format("The test ended by an exception: {}", error.what()));
  } catch (...) {
    fault = std::current_exception();
    (*log)->error("error_runtime", "The test ended by an exception of an unknown type.");
  }
  (*log)->summary(loadgen::summary_trailer((*log)->warnings(), (*log)->errors()));
  log->reset();
  if (fault) std::rethrow_exception(fault);
}

// Passes each part of the responses that one desk gave out to that desk.
template <typename Call>
void by_desk(mlperf::QuerySampleResponse* responses, std::size_t count, const Call& call) {
  Process& process = Process::instance();
  std::span<mlperf::QuerySampleResponse> left(responses, count);
  while (!left.empty()) {
    const std::uint8_t number = desk_of(left.front().id);
    std::size_t same = 1;
    while (same < left.size() && desk_of(left[same].id) == number) ++same;
    Desk* desk = process.find_desk(number);
    // An id of no desk is named by the first one, if a test runs.
    if (desk == nullptr) desk = process.find_desk(0);
    if (desk != nullptr) call(*desk, left.first(same));
    left = left.subspan(same);
  }
}

// What a line of a configuration file has wrong, in LoadGen's words.
void note_wrong_lines(std::string_view message) {
  for (const std::string_view line : split(message, '\n')) {
    const std::size_t begin = line.find("line ");
    const std::size_t end = line.find(':');
    if (begin == std::string_view::npos || end == std::string_view::npos) continue;
    const std::string_view number = line.substr(begin + 5, end - begin - 5);
    const bool value = line.find("is not a number") != std::string_view::npos;
    Process::instance().note(
        "error_invalid_config",
        format("{}, line={}",
               value ? "value needs to be integer or double" : "expected 'key=value'", number),
        Severity::error);
  }
}

int apply_conf(const loadgen::ConfFile& conf, const std::string& model, loadgen::Scenario scenario,
               loadgen::ConfKind kind, mlperf::TestSettings& settings) {
  loadgen::TestSettings ours = settings_of(settings);
  if (const auto applied = conf.apply(model, scenario, kind, ours); !applied) {
    Process::instance().note("error_invalid_config", "Invalid value passed to Mode key in config.",
                             Severity::error);
    return -EINVAL;
  }
  // A file sets no scenario.
  ours.scenario = static_cast<loadgen::Scenario>(settings.scenario);
  set_from(ours, settings);
  return 0;
}

int from_config(mlperf::TestSettings& settings, const std::string& path, const std::string& model,
                const std::string& scenario, int kind) {
  Process& process = Process::instance();
  const auto named = loadgen::scenario_named(scenario);
  if (!named) {
    process.note("error_invalid_config", format("\"{}\" is not a scenario", scenario),
                 Severity::error);
    return -EINVAL;
  }
  if (kind == 1) {
    if (process.first_user_file()) {
      from_config(settings, "", model, scenario, 0);
    } else {
      process.note("error_invalid_config",
                   "Multiple conf files are used. This is not valid for official submission.",
                   Severity::error);
    }
  }
  if (kind == 0) {
    const auto conf = loadgen::builtin_conf(loadgen::kNewestConf);
    if (!conf) return -EINVAL;
    return apply_conf(*conf, model, *named, loadgen::ConfKind::built_in, settings);
  }
  const auto text = read_file(path, kConfMax);
  if (!text) {
    process.note("error_invalid_config", "can't open file " + path, Severity::error);
    return -ENOENT;
  }
  const auto conf = loadgen::ConfFile::parse(*text);
  if (!conf) {
    note_wrong_lines(conf.error().message);
    return -EINVAL;
  }
  return apply_conf(*conf, model, *named, loadgen::ConfKind::user, settings);
}

}  // namespace
}  // namespace assay::sut

// NOLINTBEGIN(readability-identifier-naming)
namespace mlperf {

void QuerySamplesComplete(QuerySampleResponse* responses, std::size_t response_count,
                          const ResponseCallback& response_cb) {
  const assay::Instant at = assay::sut::Process::instance().clock().now();
  assay::sut::by_desk(responses, response_count,
                      [&](assay::sut::Desk& desk, std::span<QuerySampleResponse> part) {
                        desk.complete(part, at, response_cb);
                      });
}

void FirstTokenComplete(QuerySampleResponse* responses, std::size_t response_count,
                        const ResponseCallback& response_cb) {
  static_cast<void>(response_cb);
  const assay::Instant at = assay::sut::Process::instance().clock().now();
  assay::sut::by_desk(responses, response_count,
                      [&](assay::sut::Desk& desk, std::span<QuerySampleResponse> part) {
                        desk.first_token(part, at);
                      });
}

void StartTest(SystemUnderTest* sut, QuerySampleLibrary* qsl,
               const TestSettings& requested_settings, const LogSettings& log_settings,
               const std::string audit_config_filename) {
  assay::sut::start_test(*sut, *qsl, requested_settings, log_settings, audit_config_filename);
}

void AbortTest() { assay::sut::Process::instance().abort(); }

void RegisterIssueQueryThread() {
  assay::sut::Process& process = assay::sut::Process::instance();
  process.issue_threads().enlist([&process](std::uint32_t number) {
    process.note("generic_message",
                 assay::format("Registered IssueQueryThread[{}]. thread ID : {}", number,
                               assay::sut::this_thread_number()),
                 assay::sut::Severity::plain);
  });
}

int TestSettings::FromConfig(const std::string& path, const std::string& model,
                             const std::string& name, int conf_type) {
  return assay::sut::from_config(*this, path, model, name, conf_type);
}

}  // namespace mlperf
// NOLINTEND(readability-identifier-naming)
