// Calibration of this client on this machine: the load it can carry, and its measurement error.
//
// The ceiling is measured against the built-in endpoint with zero service time, one event a write:
// events a second in streams of `tokens`, and queries a second of one token without a stream. Then
// the endpoint keeps known times at shares of the ceiling in events, with the same number of
// streams, and every arrival is compared with the endpoint's truth log. Replies last at most about
// 1.5 s, so that a step has many of them. First tokens are spread out in time (exponential), like a
// server's.
//
// The endpoint is a separate process, on the cores that the measuring threads leave free, if any.
// Blocks during the measurement.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/certificate.h"
#include "base/result.h"
#include "base/time.h"
#include "run/run.h"

namespace assay::campaign {

struct CalibrationOptions {
  std::uint32_t streams = 100;
  std::uint32_t threads = 1;
  std::uint32_t isl = 64;
  std::uint32_t tokens = 64;  // the most in a reply
  Duration step{3'000'000'000};
  std::vector<double> shares{0.1, 0.5, 0.9};
  bool spin = false;
  bool pin = true;
  bool kernel_stamps = true;
  std::function<void(const std::string&)> say{};  // progress, for a person; may be empty
};

Result<audit::Certificate> calibrate(const CalibrationOptions& options, run::Control& control);

// $XDG_DATA_HOME/assay/certificates, else ~/.local/share/assay/certificates; "" without either.
std::filesystem::path certificate_folder();
Result<std::filesystem::path> keep_certificate(const audit::Certificate& certificate,
                                               const std::filesystem::path& folder);
// The certificate in `folder` of this client for the nearest number of streams; the newest of
// several. Files that can't be read are skipped.
std::optional<audit::Certificate> find_certificate(const std::filesystem::path& folder,
                                                   std::uint32_t streams, std::uint32_t threads);

}  // namespace assay::campaign
