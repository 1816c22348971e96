#include "campaign/calibrate/calibration.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/format.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/version.h"
#include "campaign/calibrate/step.h"

namespace assay::campaign {
namespace {

// A certificate's file is small; a larger file is something else.
constexpr std::size_t kFileMax = std::size_t{1} << 20;

void tell(const CalibrationOptions& options, const std::string& text) {
  if (options.say) options.say(text);
}

}  // namespace

Result<audit::Certificate> calibrate(const CalibrationOptions& options, run::Control& control) {
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("calibrate"));
  audit::Certificate out{.made = wall_now(),
                         .version = std::string(version()),
                         .build = format("{} {}", compiler(), build_type()),
                         .machine = this_machine(),
                         .streams = options.streams,
                         .threads = options.threads,
                         .isl = options.isl};
  ASSIGN_OR_RETURN(const Stepped plain,
                   take_step(options, {.name = "queries", .tokens = 1, .stream = false},
                             scratch.path(), control));
  out.qps = plain.point.rates.qps;
  ASSIGN_OR_RETURN(
      const Stepped streamed,
      take_step(options, {.name = "events", .tokens = options.tokens}, scratch.path(), control));
  out.events_per_second = streamed.level.events_per_second;
  tell(options, format("{} streams: ceiling {} queries/s, {} events/s",
                       with_thousands(std::int64_t{options.streams}), three_digits(out.qps),
                       three_digits(out.events_per_second)));
  for (const double share : options.shares) {
    ASSIGN_OR_RETURN(Stepped step,
                     take_step(options, step_at(options, share, share * out.events_per_second),
                               scratch.path(), control));
    step.level.share = share;
    tell(options,
         format("  at {:.0f} %: {} events/s, arrival error P99 {}, client limited: {}", 100 * share,
                three_digits(step.level.events_per_second),
                human_duration({step.level.arrival.ttft.size_p99()}), step.level.client_limited));
    out.levels.push_back(step.level);
  }
  std::ranges::sort(out.levels, {}, &audit::CalibratedLevel::share);
  return out;
}

std::filesystem::path certificate_folder() {
  const char* const data = ::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') {
    return std::filesystem::path(data) / "assay/certificates";
  }
  const char* const home = ::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local/share/assay/certificates";
}

Result<std::filesystem::path> keep_certificate(const audit::Certificate& certificate,
                                               const std::filesystem::path& folder) {
  const std::filesystem::path path =
      folder / format("{}-{}-streams.json", compact_stamp(certificate.made), certificate.streams);
  TRY(write_file_atomic(path, audit::certificate_to_json(certificate).dump(2) + "\n"));
  return path;
}

std::optional<audit::Certificate> find_certificate(const std::filesystem::path& folder,
                                                   std::uint32_t streams, std::uint32_t threads) {
  const audit::Certificate here{.version = std::string(version()),
                                .build = format("{} {}", compiler(), build_type()),
                                .machine = this_machine(),
                                .threads = threads};
  std::optional<audit::Certificate> best;
  double best_distance = 0;
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) return std::nullopt;
  for (const auto& entry : files) {
    const auto text = read_file(entry.path(), kFileMax);
    if (!text) continue;
    const auto json = Json::parse(*text);
    if (!json) continue;
    const auto read = audit::certificate_from_json(*json);
    if (!read || read->streams == 0 || !audit::same_client(*read, here)) continue;
    const double distance = std::abs(
        std::log(static_cast<double>(read->streams) / static_cast<double>(std::max(1U, streams))));
    const bool nearer = !best || distance < best_distance ||
                        (distance == best_distance && read->made.ns > best->made.ns);
    if (!nearer) continue;
    best = *read;
    best_distance = distance;
  }
  return best;
}

}  // namespace assay::campaign
