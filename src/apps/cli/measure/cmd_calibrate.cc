#include <unistd.h>

#include <algorithm>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "campaign/calibrate/calibration.h"
#include "campaign/calibrate/proxy_cost.h"
#include "campaign/interrupt.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "report/certificate_text.h"

namespace assay::cli {
namespace {

struct TypedCalibration {
  std::string streams = "100";
  std::string shares = "10,50,90";
  std::uint64_t threads = 1;
  std::uint64_t tokens = 64;
  std::uint64_t isl = 64;
  Duration step = 3_s;
  std::string folder{};
  std::string proxy{};
  double rate = 5000;
  bool no_pin = false;
  bool spin = false;
  bool table = false;
  bool json = false;
  bool quiet = false;
};

void add_flags(Flags& flags, TypedCalibration& typed) {
  flags.add("--streams=N", &typed.streams,
            "streams at once; several, with commas, one after another");
  flags.add("--shares=LIST", &typed.shares, "loads to hold, in percent of the ceiling");
  flags.add("--tokens=N", &typed.tokens, "tokens in a reply, at most");
  flags.add("--isl=N", &typed.isl, "input tokens of a query");
  flags.add("--threads=N", &typed.threads, "measuring threads, as the runs will have them");
  flags.add("--step=TIME", &typed.step, "how long each load is held");
  flags.add("--no-pin", &typed.no_pin, "do not bind the measuring threads to cores");
  flags.add("--spin", &typed.spin, "never sleep before a send, as the runs will");
  flags.add("--folder=DIR", &typed.folder, "keep the certificate there instead of the user's data");
  flags
      .add("--proxy", &typed.proxy,
           "what `assay proxy` adds to each event, with its flag of this name, instead")
      .choices({"plain", "spin", "realtime"});
  flags.add("--rate=N", &typed.rate, "with --proxy: stream events a second");
  flags.add("--table", &typed.table, "print the errors as a table in markdown");
  flags.add("--json", &typed.json, "print the certificates as JSON");
  flags.add("--quiet", &typed.quiet, "no talk while it measures");
  flags.example("assay calibrate --streams 256");
  flags.example("assay calibrate --proxy plain --rate 5000");
  flags.example("assay calibrate --streams 1,100,1000,10000 --table");
}

Result<std::vector<double>> numbers(std::string_view flag, const std::string& list, double least,
                                    double most) {
  std::vector<double> out;
  for (const std::string_view text : split(list, ',')) {
    const auto value = parse_double(trim(text));
    if (!value || !(*value >= least && *value <= most)) {
      return invalid(format("{}: \"{}\" is not a number from {} to {}", flag, text, least, most));
    }
    out.push_back(*value);
  }
  return out;
}

Result<campaign::CalibrationOptions> understand(const TypedCalibration& typed) {
  campaign::CalibrationOptions out;
  if (typed.threads < 1 || typed.threads > 256) return invalid("--threads: must be from 1 to 256");
  if (typed.tokens < 2 || typed.tokens > 100'000)
    return invalid("--tokens: must be from 2 to 100,000");
  if (typed.isl < 1 || typed.isl > 1'000'000) return invalid("--isl: must be from 1 to 1,000,000");
  if (typed.step < 100_ms) return invalid("--step: must be 100ms or more");
  ASSIGN_OR_RETURN(out.shares, numbers("--shares", typed.shares, 0.1, 100));
  for (double& share : out.shares) share /= 100;
  out.threads = static_cast<std::uint32_t>(typed.threads);
  out.tokens = static_cast<std::uint32_t>(typed.tokens);
  out.isl = static_cast<std::uint32_t>(typed.isl);
  out.step = typed.step;
  out.pin = !typed.no_pin;
  out.spin = typed.spin;
  if (!typed.quiet) out.say = [](const std::string& text) { say(text); };
  return out;
}

Result<int> measure_proxy(const TypedCalibration& typed,
                          const campaign::CalibrationOptions& options) {
  if (!(typed.rate >= 10 && typed.rate <= 1e7))
    return invalid("--rate: must be from 10 to 10,000,000");
  campaign::ProxyCostOptions asked{.events_per_second = typed.rate};
  if (typed.proxy != "plain") asked.flags = {"--" + typed.proxy};
  run::Control control;
  const campaign::InterruptGuard guard(control);
  ASSIGN_OR_RETURN(const auto cost, campaign::proxy_cost(options, asked, control));
  print(typed.json ? campaign::proxy_cost_json(cost).dump(2) + "\n"
                   : campaign::proxy_cost_text(cost));
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> cmd_calibrate(Args args) {
  TypedCalibration typed;
  Flags flags(
      "calibrate",
      "what this client can carry on this machine, and how far its times are from the truth");
  add_flags(flags, typed);
  PARSE_OR_RETURN(flags, args);
  ASSIGN_OR_RETURN(campaign::CalibrationOptions options, understand(typed));
  ASSIGN_OR_RETURN(const auto streams, numbers("--streams", typed.streams, 1, 1'000'000));
  if (!typed.proxy.empty()) {
    if (streams.size() > 1) return invalid("--streams: one number with --proxy");
    options.streams = static_cast<std::uint32_t>(streams.front());
    return measure_proxy(typed, options);
  }
  const std::filesystem::path folder =
      typed.folder.empty() ? campaign::certificate_folder() : std::filesystem::path(typed.folder);
  if (folder.empty()) return invalid("--folder: neither XDG_DATA_HOME nor HOME is set; name one");
  TRY(make_folders(folder));  // fails now rather than after the measurement
  if (::access(folder.c_str(), W_OK) != 0) {
    return errno_error(format("--folder: cannot write into '{}'", folder.string()));
  }

  run::Control control;
  const campaign::InterruptGuard guard(control);
  std::vector<audit::Certificate> all;
  for (const double wanted : streams) {
    options.streams = static_cast<std::uint32_t>(wanted);
    ASSIGN_OR_RETURN(audit::Certificate certificate, campaign::calibrate(options, control));
    ASSIGN_OR_RETURN(const auto path, campaign::keep_certificate(certificate, folder));
    if (!typed.quiet) say("kept in " + path.string());
    all.push_back(std::move(certificate));
  }
  if (typed.json) {
    Json list = Json::array();
    for (const auto& certificate : all) list.push_back(audit::certificate_to_json(certificate));
    print(list.dump(2) + "\n");
  } else if (typed.table) {
    print(report::certificate_table(all));
  } else {
    for (const auto& certificate : all) print(report::certificate_text(certificate));
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
