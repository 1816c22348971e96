#include "interchange/read/reference_run.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "base/yaml.h"
#include "domain/query.h"
#include "interchange/read/reference_events.h"
#include "interchange/read/reference_scan.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEventsName = "events.jsonl";
constexpr std::size_t kSideFileMax = std::size_t{512} << 20;

// Lines of a file that may be larger than memory.
class Lines {
 public:
  static Result<Lines> open(const fs::path& path) {
    File file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) return errno_error(format("cannot open '{}'", path.string()));
    return Lines(std::move(file), path.string());
  }

  // The next line without its end; nullopt at the file's end. Valid until the next call.
  Result<std::optional<std::string_view>> next() {
    for (;;) {
      const std::size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos) {
        const std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
        at_ = searched_ = end + 1;
        ++number_;
        return std::optional(line);
      }
      if (ended_) return last();
      TRY(fill());
    }
  }
  std::string place() const { return format("{}:{}", name_, number_); }
  // The last line has no end.
  bool cut() const { return cut_; }

 private:
  Lines(File file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  // The client ends each line, but a copy may lack the last line's end.
  std::optional<std::string_view> last() {
    if (at_ == buffer_.size()) return std::nullopt;
    const std::string_view line = std::string_view(buffer_).substr(at_);
    at_ = searched_ = buffer_.size();
    ++number_;
    cut_ = true;
    return line;
  }

  Result<void> fill() {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    buffer_.erase(0, at_);
    searched_ = buffer_.size();
    at_ = 0;
    if (buffer_.size() > kReferenceLineMax) {
      ++number_;
      return invalid(format("{}: longer than {} MiB", place(), kReferenceLineMax >> 20));
    }
    const std::size_t size = buffer_.size();
    buffer_.resize(size + kStep);
    const std::size_t got = std::fread(buffer_.data() + size, 1, kStep, file_.get());
    buffer_.resize(size + got);
    if (std::ferror(file_.get()) != 0) return errno_error(format("cannot read '{}'", name_));
    ended_ = got < kStep;
    return {};
  }

  File file_;
  std::string name_;
  std::string buffer_{};
  std::size_t at_ = 0;        // where the next line begins
  std::size_t searched_ = 0;  // up to here there is no end of a line
  std::uint64_t number_ = 0;
  bool ended_ = false;
  bool cut_ = false;
};

// Passes each event of the file to `take`.
template <typename Take>
Result<void> for_each_event(const fs::path& path, Take&& take) {
  ASSIGN_OR_RETURN(Lines lines, Lines::open(path));
  for (;;) {
    ASSIGN_OR_RETURN(const auto line, lines.next());
    if (!line) return {};
    if (trim(*line).empty()) continue;
    const auto event = read_reference_event(*line);
    if (!event) {
      Error error = event.error().within(lines.place());
      if (lines.cut()) error.message += "\n  the file ends within this line";
      return error;
    }
    const Result<void> taken = take(*event);
    if (!taken) return taken.error().within(lines.place());
  }
}

// A file beside the events; null where there is none.
Result<Json> read_beside(const fs::path& path, bool is_yaml) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Json();
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kSideFileMax));
  if (is_yaml) {
    const auto node = yaml::parse(text);
    if (!node) return invalid(format("{}:{}", path.string(), node.error().message));
    return node->to_json();
  }
  auto json = Json::parse(text);
  if (!json) return json.error().within(path.string());
  return *std::move(json);
}

Result<ReferenceIndex> read_index(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return ReferenceIndex{};
  ASSIGN_OR_RETURN(const std::string text, read_file(path, kSideFileMax));
  auto index = read_reference_index(text);
  if (!index) return index.error().within(path.string());
  return *std::move(index);
}

// run_config of the summary, or as that client derives it from its config.
Json run_config_of(const Json& summary, const Json& config) {
  if (summary["run_config"].is_object()) return summary["run_config"];
  const Json& settings = config["settings"];
  if (!settings["load_pattern"].is_object()) return {};
  return Json()
      .set("load_pattern", settings["load_pattern"])
      .set("warmup", settings["warmup"])
      .set("scheduler_random_seed", settings["runtime"]["scheduler_random_seed"])
      .set("dataloader_random_seed", settings["runtime"]["dataloader_random_seed"]);
}

std::string measured_dataset(const Json& config) {
  for (const Json& dataset : config["datasets"].items()) {
    if (dataset["type"].as_string("performance") != "performance") continue;
    return std::string(dataset["name"].as_string());
  }
  return {};
}

// The instant at which the test began, in s, ms, µs or ns since 1970: the unit that gives a year
// from 2020 to 2100. 0: unknown, as in every file of the client's first releases.
WallTime started_at(const Json& summary) {
  constexpr double kFirst = 1.5778e18;
  constexpr double kLast = 4.1025e18;
  const double told = summary["test_started_at"].as_double();
  for (const double unit : {1e9, 1e6, 1e3, 1.0}) {
    const double ns = told * unit;
    if (ns >= kFirst && ns <= kLast) return WallTime{static_cast<std::int64_t>(ns)};
  }
  return WallTime{};
}

Json lacks_of(const ReferenceScan& scan) {
  Json out = Json::array();
  out.push_back("kernel stamps: an arrival is when that client's main loop had it");
  out.push_back("a verdict on the client: it records nothing about itself");
  out.push_back("when a query was due: it counts as due when it was issued");
  out.push_back("token counts of single replies: --tokenizer counts the recorded texts");
  if (scan.streamed() && !scan.every_chunk()) {
    out.push_back("the fragments after the first (stream_all_chunks is off): there is no ITL");
  }
  if (scan.warmup() > 0) {
    out.push_back(format("the ends of {} warm-up queries, which are left out", scan.warmup()));
  }
  if (!scan.has_rows()) out.push_back("sample_idx_map.json: the rows of the dataset are unknown");
  return out;
}

void add_reference_facts(const ReferenceScan& scan, const Json& config, ReferenceRun& run) {
  const Json& summary = run.summary;
  Json facts = Json::object();
  const Json& model = config["model_params"]["name"];
  if (model.is_string()) facts.set("model", model);
  const Json& endpoints = config["endpoint_config"]["endpoints"];
  if (endpoints.is_array()) facts.set("endpoints", endpoints);
  if (!config.is_null()) {
    facts.set("api", config["endpoint_config"]["api_type"].as_string("openai"));
  }
  facts.set("streaming", scan.streamed());
  if (const std::string dataset = measured_dataset(config); !dataset.empty()) {
    facts.set("dataset", dataset);
  }
  Json run_config = run_config_of(summary, config);
  const Json& pattern = run_config["load_pattern"];
  const std::string_view type = pattern["type"].as_string();
  for (PhaseInfo& phase : run.info.phases) {
    phase.open_loop = type == "poisson" && phase.kind == PhaseKind::performance;
  }
  const std::int64_t level = pattern["target_concurrency"].as_int();
  if (type == "concurrency" && level > 0 && scan.rows_of_dataset() > 0) {
    constexpr std::int64_t kUltraLow = 32;
    facts.set("steady_state", Json()
                                  .set("super_pass", scan.rows_of_dataset())
                                  .set("window_min_s", level <= kUltraLow ? 600 : 1200));
  }
  if (run_config.is_object()) facts.set("run_config", std::move(run_config));
  facts.set("imported", Json()
                            .set("format", "endpoints")
                            .set("version", summary["version"])
                            .set("git_sha", summary["git_sha"])
                            .set("chunks", scan.every_chunk() ? "all"
                                           : scan.streamed()  ? "first"
                                                              : "none")
                            .set("lacks", lacks_of(scan)));
  run.info.facts = std::move(facts);
}

// What its own summary says of the end outweighs the events: of an interrupted run these may end
// as those of a whole one.
void take_end_of_summary(ReferenceRun& run) {
  const Json& summary = run.summary;
  if (run.end.state != RunState::complete || summary["complete"].as_bool(true)) return;
  run.end = {RunState::interrupted, format("its own summary calls it {}, and not complete",
                                           summary["state"].as_string("unfinished"))};
}

// ---- the second pass --------------------------------------------------------------------------

// A query between its issue and its end.
struct Flight {
  Instant issued{};
  std::vector<Instant> arrivals{};
  bool failed = false;
  ReferenceFailure failure{};
};

struct Piece {
  Category category = Category::text;
  std::string_view text{};
  Instant at{};
};

// The reply's texts at the instants of its fragments: the first text with the first arrival. The
// other texts have no instants of their own, so the second one is put at the second arrival, those
// after it at the last, and fragments in between have none.
std::vector<Piece> pieces_of(const ReferenceOutput& output, std::span<const Instant> arrivals,
                             Instant done) {
  std::vector<Piece> out;
  for (const ReferencePart& part : output.parts) {
    if (!part.first.empty()) out.push_back({part.category, part.first, done});
    if (part.has_rest && !part.rest.empty()) out.push_back({part.category, part.rest, done});
  }
  if (arrivals.empty()) return out;
  if (out.empty()) out.push_back({});
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i < arrivals.size()) out[i].at = arrivals[i];
  }
  if (arrivals.size() <= out.size()) return out;
  const std::size_t early = std::min<std::size_t>(out.size(), 2);
  for (std::size_t i = early; i < out.size(); ++i) out[i].at = arrivals.back();
  const std::size_t spare = arrivals.size() - out.size();
  std::vector<Piece> between;
  for (std::size_t i = 0; i < spare; ++i) {
    between.push_back({out[early - 1].category, {}, arrivals[early + i]});
  }
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(early), between.begin(), between.end());
  return out;
}

class ReferenceReplay {
 public:
  ReferenceReplay(ReferenceRun& run, EventSink& sink) : run_(run), sink_(sink) {
    last_.resize(run.info.phases.size());
    issued_.resize(run.info.phases.size());
  }

  void begin() {
    for (std::size_t i = 0; i < run_.began.size(); ++i) {
      last_[i] = issued_[i] = run_.began[i];
      sink_.on_phase({static_cast<std::uint16_t>(i), PhaseStep::started, run_.began[i]});
    }
  }

  Result<void> add(const ReferenceEvent& event) {
    if (event.kind == ReferenceEventKind::issued) {
      flights_[event.uuid].issued = event.at;
      return {};
    }
    const bool of_query = event.kind == ReferenceEventKind::recv_first ||
                          event.kind == ReferenceEventKind::recv_non_first ||
                          event.kind == ReferenceEventKind::complete ||
                          event.kind == ReferenceEventKind::error;
    if (!of_query || event.uuid.empty()) return {};
    const auto place = run_.places.find(event.uuid);
    if (place == run_.places.end()) {
      return invalid(format("sample_uuid: {} was never issued", event.uuid));
    }
    // Chunks of a turn that was given up may come after its end; a warm-up query is left out.
    if (place->second.ended || place->second.left_out) return {};
    const auto flight = flights_.find(event.uuid);
    if (flight == flights_.end()) {
      return invalid(format("sample_uuid: {} was not issued before this event", event.uuid));
    }
    if (event.kind == ReferenceEventKind::error) {
      ASSIGN_OR_RETURN(flight->second.failure, read_reference_failure(event.data));
      flight->second.failed = true;
      return {};
    }
    if (event.kind != ReferenceEventKind::complete) {
      flight->second.arrivals.push_back(event.at);
      return {};
    }
    TRY(end(event, place->second, flight->second));
    place->second.ended = true;
    flights_.erase(flight);
    return {};
  }

  // Queries without an end were in flight when the file ended.
  void finish() {
    for (const auto& [uuid, flight] : flights_) {
      const auto place = run_.places.find(uuid);
      if (place == run_.places.end() || place->second.left_out) continue;
      const Query query = query_of(place->second);
      sent(query, flight.issued);
      note(query.phase, flight.arrivals.empty() ? flight.issued : flight.arrivals.back());
    }
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const auto phase = static_cast<std::uint16_t>(i);
      sink_.on_phase({phase, PhaseStep::issue_ended, issued_[i]});
      sink_.on_phase({phase, PhaseStep::drained, last_[i]});
    }
  }

 private:
  static Query query_of(const ReferenceRun::Place& place) {
    return {.index = place.index, .phase = place.phase, .sample = place.sample};
  }

  void note(std::uint16_t phase, Instant at) { last_[phase] = std::max(last_[phase], at); }

  void sent(const Query& query, Instant at) {
    issued_[query.phase] = std::max(issued_[query.phase], at);
    sink_.on_sent(query, at, at);
  }

  Result<void> end(const ReferenceEvent& complete, const ReferenceRun::Place& place,
                   Flight& flight) {
    ReferenceOutput output;
    if (!flight.failed) {
      ASSIGN_OR_RETURN(output, read_reference_output(complete.data));
    }
    if (complete.at < flight.issued) return invalid("timestamp_ns: before the query was issued");
    for (const Instant at : flight.arrivals) {
      if (at >= flight.issued) continue;
      return invalid("timestamp_ns: a fragment came before the query was issued");
    }
    std::ranges::sort(flight.arrivals);
    const std::vector<Piece> pieces = flight.failed && flight.arrivals.empty()
                                          ? std::vector<Piece>()
                                          : pieces_of(output, flight.arrivals, complete.at);
    Event event{};
    event.query = query_of(place);
    event.outcome = flight.failed ? flight.failure.outcome : Outcome::ok;
    event.http_status = flight.failed ? flight.failure.status : std::uint16_t{200};
    event.finish = complete.finish;
    event.due = flight.issued;
    event.done = complete.at;
    const bool was_sent = !(flight.failed && flight.failure.never_sent);
    if (was_sent) {
      event.sent = flight.issued;
      sent(event.query, flight.issued);
    }
    event.streamed = event.stream_asked = !flight.arrivals.empty();
    tell_pieces(pieces, event);
    note(place.phase, complete.at);
    sink_.on_done(event, flight.failure.detail);
    return {};
  }

  void tell_pieces(const std::vector<Piece>& pieces, Event& event) {
    for (const Piece& piece : pieces) {
      StreamEvent fragment{};
      fragment.category = piece.category;
      fragment.arrival = fragment.read = piece.at;
      fragment.bytes = static_cast<std::uint32_t>(piece.text.size());
      sink_.on_stream_event(event.query, fragment, piece.text);
      if (event.fragments++ == 0) {
        event.first_token = piece.at;
        event.first_fragment_bytes = fragment.bytes;
        if (piece.category == Category::text) event.first_visible = piece.at;
      }
      event.last_token = piece.at;
      event.output_bytes += fragment.bytes;
    }
    event.stream_events = event.fragments;
    if (event.fragments > 0) event.first_byte = event.first_event = event.first_token;
  }

  ReferenceRun& run_;
  EventSink& sink_;
  std::unordered_map<std::string, Flight> flights_{};
  std::vector<Instant> last_{};    // by phase
  std::vector<Instant> issued_{};  // by phase
};

}  // namespace

bool is_reference_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kEventsName, ignored) &&
         !fs::exists(folder / "assay" / "events-0.alog", ignored);
}

Result<ReferenceRun> read_reference_run(const fs::path& path) {
  std::error_code ignored;
  ReferenceRun run;
  const bool is_folder = fs::is_directory(path, ignored);
  run.events = is_folder ? path / kEventsName : path;
  const fs::path folder = is_folder ? path : path.parent_path();
  ASSIGN_OR_RETURN(run.summary, read_beside(folder / "performance/result_summary.json", false));
  if (run.summary.is_null()) {
    ASSIGN_OR_RETURN(run.summary, read_beside(folder / "result_summary.json", false));
  }
  ASSIGN_OR_RETURN(const Json config, read_beside(folder / "config.yaml", true));
  ASSIGN_OR_RETURN(ReferenceIndex index, read_index(folder / "sample_idx_map.json"));
  ReferenceScan scan(std::move(index));
  TRY(for_each_event(run.events, [&scan](const ReferenceEvent& event) { return scan.add(event); }));
  const Result<void> finished = scan.finish(run);
  if (!finished) return finished.error().within(run.events.string());
  add_reference_facts(scan, config, run);
  take_end_of_summary(run);
  run.info.version = version();
  run.info.run_key = xxh3(run.info.run_id);
  run.info.started = started_at(run.summary);
  return run;
}

Result<void> replay_reference_run(ReferenceRun& run, EventSink& sink) {
  ReferenceReplay replay(run, sink);
  replay.begin();
  TRY(for_each_event(run.events,
                     [&replay](const ReferenceEvent& event) { return replay.add(event); }));
  replay.finish();
  return {};
}

Result<void> write_reference_log(ReferenceRun& run, const fs::path& log) {
  ASSIGN_OR_RETURN(const auto writer,
                   record::EventLogWriter::create(log, run.info, {.lossless = true}));
  TRY(replay_reference_run(run, *writer));
  // A log without an end is a run that was cut off.
  if (run.end.state == RunState::crashed) {
    writer->settle();
  } else {
    TRY(writer->close(run.end));
  }
  if (const std::uint64_t lost = writer->health().lost_records; lost > 0) {
    return Error{Code::exhausted, format("{}; {} records are lost", writer->error(), lost)};
  }
  return {};
}

}  // namespace assay::interchange
