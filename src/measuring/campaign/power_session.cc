#include "campaign/power_session.h"

#include <array>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/interrupt.h"
#include "campaign/power_log.h"
#include "campaign/run_talk.h"
#include "meter/director.h"
#include "observe/observed.h"

namespace assay::campaign {
namespace {

// What the director keeps of a session; those of a run stand in its folder.
constexpr std::array<std::string_view, 5> kSessionFiles = {"ranging/spl.txt", "run_1/spl.txt",
                                                           "power/ptd_logs.txt",
                                                           "power/server.json", "power/server.log"};

std::string power_folder(meter::PowerPhase phase) {
  return phase == meter::PowerPhase::ranging ? "ranging" : "run_1";
}

// Fetches the session's files. `spl`: the analyzer's log of the testing run.
Result<void> fetch_files(meter::Director& director, const std::filesystem::path& folder,
                         std::string& spl) {
  std::error_code ignored;
  std::filesystem::create_directories(folder / "power", ignored);
  for (const std::string_view file : kSessionFiles) {
    ASSIGN_OR_RETURN(std::string bytes, director.download(file));
    TRY(write_file_atomic(folder / file, bytes));
    if (file == "run_1/spl.txt") spl = std::move(bytes);
  }
  TRY(director.clean_up());
  return write_file_atomic(folder / "power/client.json", director.about().dump(2) + "\n");
}

}  // namespace

Result<int> measure_power_session(const RunSettings& settings, const PowerSessionOptions& options,
                                  std::vector<std::string> command, const Talk& talk) {
  ASSIGN_OR_RETURN(const meter::DirectorPlace place, meter::parse_director_place(options.director));
  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  ASSIGN_OR_RETURN(const auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  const OsClock clock;
  ASSIGN_OR_RETURN(meter::Director director, meter::Director::open(place, clock));
  if (!options.quiet) {
    say_notes(talk, {&loaded.notes});
    talk.say(format("power session {}: a ranging run, then a testing run", director.session()));
  }
  Preflight preflight;
  run::Control control;
  std::optional<RecordedRun> tested;
  WallTime stopped{};
  for (const auto phase : {meter::PowerPhase::ranging, meter::PowerPhase::testing}) {
    plan::Config config = loaded.config;
    ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(config, datasets));
    RunRequest request{.config = &config, .bundle = &bundle, .preflight = &preflight};
    request.folder = folder / power_folder(phase);
    request.command = command;
    TRY(director.start(phase));
    const InterruptGuard guard(control);
    auto recorded = record_run(request, options.client, LiveView(), control);
    stopped = wall_now();
    TRY(director.stop(phase));
    if (!recorded) return recorded.error();
    if (!recorded->run.point.complete()) {
      talk.say(format("the {} run is not whole: {}", meter::to_string(phase),
                      recorded->run.point.end.reason));
      return ending_of(*recorded, options.client).code();
    }
    tested = *std::move(recorded);
  }
  TRY(director.done());
  std::string spl;
  TRY(fetch_files(director, folder, spl));
  const Duration offset = tested->run.point.run.offset.wall_minus_monotonic;
  ASSIGN_OR_RETURN(const observe::Telemetry telemetry,
                   telemetry_of_power_log(spl, stopped, offset));
  const observe::Observed observed = observe::observe_run(telemetry, {}, tested->run.point);
  const Json power = observe::power_json(observed, tested->run.point);
  if (power.is_null()) {
    return Error{Code::corrupt, "run_1/spl.txt: no sample lies in the measured phase"};
  }
  TRY(write_file_atomic(folder / power_folder(meter::PowerPhase::testing) / "power.json",
                        power.dump(2) + "\n"));
  const Ending ending = ending_of(*tested, options.client);
  if (options.json) {
    Json result = Json().set("session", director.session()).set("power", power);
    talk.print(result.set("exit", ending.json()).dump(2) + "\n");
  } else {
    for (const auto& [name, text] : observe::observed_lines(observed)) {
      if (name == "power") talk.print(format("power: {}\n", text));
    }
  }
  return ending.code();
}

}  // namespace assay::campaign
