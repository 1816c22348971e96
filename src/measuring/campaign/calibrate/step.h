// One step of a calibration: the built-in endpoint is started, a load is measured and compared with
// the endpoint's truth log. Blocks during the measurement; one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "audit/certificate.h"
#include "base/result.h"
#include "campaign/calibrate/calibration.h"
#include "metrics/point.h"
#include "run/run.h"

namespace assay::campaign {

struct Step {
  std::string name{};  // of its folder
  std::uint32_t tokens = 1;
  bool stream = true;
  Duration ttft{};  // exponential with this mean
  Duration itl{};
  bool truth = false;
  Duration reply{};  // of one reply; a step lasts at least two
  // Through `assay proxy` with these flags.
  std::optional<std::vector<std::string>> proxy{};
};

struct Stepped {
  metrics::Point point{};
  audit::CalibratedLevel level{};
};

// The times at which `streams` streams make `events` events a second.
Step step_at(const CalibrationOptions& options, double share, double events);

// `scratch`: a folder for one step's files at a time.
Result<Stepped> take_step(const CalibrationOptions& options, const Step& step,
                          const std::filesystem::path& scratch, run::Control& control);

}  // namespace assay::campaign
