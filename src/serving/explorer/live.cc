#include "explorer/live.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/staged.h"
#include "explorer/import_parts.h"
#include "metrics/point_fold.h"
#include "record/event_log.h"

namespace assay::explorer {
namespace {

namespace fs = std::filesystem;

constexpr int kWatchDepthMax = 4;
// Beyond this size a look takes too long to be live.
constexpr std::uintmax_t kLogBytesMax = std::uintmax_t{2} << 30;
constexpr std::int64_t kRestPerLook = 10;
constexpr Duration kSilentAfter = 30_s;
constexpr Duration kOldAfter = 60_s;

// The instant of a file's last write; long ago if it is missing.
WallTime written_at(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// The sum over all threads' logs.
std::uintmax_t log_bytes(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "assay", error)) {
    if (entry.path().extension() == ".alog") bytes += entry.file_size(error);
  }
  return bytes;
}

Json live_json(const fs::path& folder, const fs::path& curve, const metrics::Point& point,
               bool ended) {
  const Json& pattern = point.run.facts["run_config"]["load_pattern"];
  Json out;
  out.set("folder", folder.filename().string()).set("path", folder.string());
  if (!curve.empty()) out.set("curve", curve.string());
  out.set("model", model_name(point.run.facts["model"].as_string()));
  if (pattern["target_concurrency"].as_double() > 0) {
    out.set("concurrency", pattern["target_concurrency"].as_double());
  }
  const double elapsed = point.ended > point.began ? (point.ended - point.began).seconds() : 0;
  out.set("elapsed_s", elapsed);
  out.set("issued", point.counts.issued).set("completed", point.counts.completed);
  out.set("failed", point.counts.failed);
  out.set("in_flight", point.counts.unfinished);
  out.set("system_tps", point.rates.tps ? Json(*point.rates.tps) : Json());
  out.set("tps_per_user", point.rates.tps_per_user ? Json(*point.rates.tps_per_user) : Json());
  const metrics::Distribution& ttft = point.arrival.ttft;
  out.set("ttft_ms_p90", ttft.empty() ? Json() : Json(ttft.percentile(90.0) * 1e-6));
  return out.set("silent", false).set("ended", ended);
}

}  // namespace

struct LiveRuns::Run {
  std::uintmax_t bytes = 0;
  bool seen = false;
  bool finished = false;
  Instant next_look{};
  Instant grew{};
  Json last{};  // the last report
};

struct LiveRuns::Watched {
  std::map<fs::path, Run> runs{};
};

LiveRuns::LiveRuns() : watched_(std::make_unique<Watched>()) {}

LiveRuns::~LiveRuns() {
  {
    Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LiveRuns::open(LiveOptions options, std::unique_ptr<store::Store> store) {
  options_ = std::move(options);
  store_ = std::move(store);
}

void LiveRuns::start(const Clock& clock) {
  thread_ = std::thread([this, &clock] { watch(clock); });
}

void LiveRuns::watch(const Clock& clock) {
  for (;;) {
    look(clock);
    Lock lock(mutex_);
    if (stopping_) return;
    wake_.wait_for(lock, 1_s);
    if (stopping_) return;
  }
}

void LiveRuns::look(const Clock& clock) {
  for (const fs::path& folder : options_.folders) look_below(folder, {}, 0, clock);
}

void LiveRuns::look_below(const fs::path& folder, const fs::path& curve, int depth,
                          const Clock& clock) {
  std::error_code error;
  if (fs::is_regular_file(folder / "assay/events-0.alog", error)) {
    return look_at_run(folder, curve, clock);
  }
  if (depth == kWatchDepthMax) return;
  const bool here = fs::is_regular_file(folder / "curve.json", error);
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_directory(error) || entry.is_symlink(error)) continue;
    if (entry.path().string().ends_with(kPartSuffix)) continue;
    // Runs that a curve has set aside are not points of it.
    if (here && entry.path().filename() == "attempts") continue;
    look_below(entry.path(), here ? folder : curve, depth + 1, clock);
  }
}

void LiveRuns::look_at_run(const fs::path& folder, const fs::path& curve, const Clock& clock) {
  Run& run = watched_->runs[folder];
  if (run.finished) return;
  std::error_code error;
  const fs::path manifest = folder / "assay/run.json";
  const bool ended = fs::is_regular_file(manifest, error);
  const std::uintmax_t bytes = log_bytes(folder);
  if (!std::exchange(run.seen, true)) {
    const WallTime written = written_at(ended ? manifest : folder / "assay/events-0.alog");
    if (written.ns < options_.began.ns - (ended ? Duration{} : kOldAfter).ns) {
      run.finished = ended;
      run.bytes = bytes;
    }
    if (run.finished) return;
  }
  const Instant now = clock.now();
  if (bytes == run.bytes && !ended) return say_silent(folder, run, now);
  if (now < run.next_look && !ended) return;
  run.bytes = bytes;
  run.grew = now;
  if (ended) {
    if (!put_in_store(curve.empty() ? folder : curve)) return;
    run.finished = true;
  }
  if (bytes > kLogBytesMax) return;
  const auto info = record::read_run_info(folder / "assay/events-0.alog");
  if (!info) return;
  metrics::PointFold fold(*info, {.gaps_max = 1 << 16, .early_stopping = false});
  const auto replay = record::replay_run(folder / "assay", fold);
  if (!replay) return;
  const metrics::Point point = fold.finish(replay->end.end);
  run.last = live_json(folder, curve, point, ended);
  say(folder.string(), {"run", run.last.dump()});
  if (!curve.empty()) say_curve(curve, folder, ended);
  const Instant done = clock.now();
  run.next_look = done + (done - now) * kRestPerLook;
}

// A log that does not grow belongs to a killed client, or to a silent server.
void LiveRuns::say_silent(const fs::path& folder, Run& run, Instant now) {
  if (run.last.is_null() || run.last["silent"].as_bool() || now - run.grew < kSilentAfter) return;
  run.last.set("silent", true);
  say(folder.string(), {"run", run.last.dump()});
}

bool LiveRuns::put_in_store(const fs::path& whole) {
  const auto found = read_results(whole, options_.import);
  // A run that can't be read now can't be read later either.
  return !found || put_all(*store_, found->curves).has_value();
}

void LiveRuns::say_curve(const fs::path& folder, const fs::path& going, bool ended) {
  const Json plan = read_json_or_null(folder / "curve.json");
  Json levels = Json::array();
  std::int64_t done = 0;
  for (const Json& planned : plan["plan"]["points"].items()) {
    const fs::path point = folder / "points" / clean_name(planned["name"].as_string());
    std::error_code error;
    const bool here = point == going && !ended;
    const bool measured = !here && fs::is_regular_file(point / "assay/run.json", error);
    done += measured ? 1 : 0;
    levels.push_back(Json()
                         .set("name", clean_name(planned["name"].as_string()))
                         .set("concurrency", planned["concurrency"].as_double())
                         .set("region", clean_name(planned["declared_region"].as_string()))
                         .set("state", here       ? "going"
                                       : measured ? "done"
                                                  : "waiting"));
  }
  const auto points = static_cast<std::int64_t>(levels.size());
  Json out;
  out.set("folder", folder.filename().string()).set("path", folder.string());
  out.set("model", model_name(plan["model"].as_string()));
  out.set("points_done", done).set("points", points).set("levels", std::move(levels));
  say("curve " + folder.string(), {"curve", out.set("ended", done == points).dump()});
}

void LiveRuns::say(const std::string& key, LiveEvent event) {
  Lock lock(mutex_);
  std::erase_if(said_, [&key](const Said& said) { return said.key == key; });
  said_.push_back({key, ++number_, std::move(event)});
  constexpr std::size_t kSaidMax = 64;
  if (said_.size() > kSaidMax) said_.erase(said_.begin());
}

LiveRuns::News LiveRuns::since(std::uint64_t number) const {
  Lock lock(mutex_);
  News news{.number = number_};
  for (const Said& said : said_) {
    if (said.number > number) news.events.push_back(said.event);
  }
  return news;
}

}  // namespace assay::explorer
