#include "interchange/read/reference_scan.h"

#include <algorithm>
#include <limits>

#include "base/format.h"

namespace assay::interchange {
namespace {

constexpr std::string_view kMeasured = "performance";
constexpr std::uint16_t kWarmup = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kPhasesMax = 1024;

}  // namespace

Result<ReferenceIndex> read_reference_index(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, Json::parse(text));
  if (!json.is_object()) return invalid("no object of phases");
  if (json.size() > kPhasesMax) return invalid(format("more than {} phases", kPhasesMax));
  ReferenceIndex out{.known = true};
  for (const auto& [phase, rows] : json.members()) {
    if (!rows.is_object()) return invalid(format("{}: no map of queries to rows", phase));
    const auto number = static_cast<std::uint16_t>(out.phases.size());
    out.phases.push_back(phase);
    for (const auto& [uuid, row] : rows.members()) {
      const std::int64_t at = row.is_integer() ? row.as_int(-1) : -1;
      if (at < 0 || at >= std::numeric_limits<std::uint32_t>::max()) {
        return invalid(format("{}.{}: no row of a dataset", phase, uuid));
      }
      if (!out.rows.emplace(uuid, std::pair(number, static_cast<std::uint32_t>(at))).second) {
        return invalid(format("{}.{}: is in another phase too", phase, uuid));
      }
    }
  }
  return out;
}

ReferenceScan::ReferenceScan(ReferenceIndex index) : index_(std::move(index)) {
  parts_.push_back({PhaseKind::performance, std::string(kMeasured)});
  parts_.push_back({PhaseKind::tail, "tail"});
  if (!index_.known) parts_.push_back({PhaseKind::accuracy, "accuracy"});
  // A place for the measured phase too, which stays empty: numbers stay those of the file.
  for (const std::string& name : index_.phases) parts_.push_back({PhaseKind::accuracy, name});
}

// The part that a query belongs to, or kWarmup.
Result<std::uint16_t> ReferenceScan::part_of(const ReferenceEvent& event,
                                             std::uint32_t& row) const {
  const std::uint16_t measured = stopped_ ? kTail : kPerformance;
  if (!index_.known) {
    if (stopped_) return kOthers;
    return tracking_.known() ? kPerformance : kWarmup;
  }
  const auto found = index_.rows.find(event.uuid);
  if (found == index_.rows.end()) {
    if (!tracking_.known()) return kWarmup;
    return invalid(format(
        "sample_uuid: {} is in no phase of sample_idx_map.json: is it another run's?", event.uuid));
  }
  row = found->second.second;
  if (index_.phases[found->second.first] == kMeasured) return measured;
  return static_cast<std::uint16_t>(kOthers + found->second.first);
}

Result<void> ReferenceScan::issued(const ReferenceEvent& event) {
  std::uint32_t row = 0;
  ASSIGN_OR_RETURN(const std::uint16_t number, part_of(event, row));
  ReferenceRun::Place place{.phase = number, .left_out = number == kWarmup, .sample = row};
  if (place.left_out) {
    ++warmup_;
  } else {
    Part& part = parts_[number];
    if (part.issued == std::numeric_limits<std::uint32_t>::max())
      return invalid("too many queries");
    place.index = part.issued++;
    if (!index_.known) place.sample = place.index;
    part.row_max = std::max(part.row_max, place.sample);
    part.began = part.began.known() ? std::min(part.began, event.at) : event.at;
    identity_.add(format("{} {}\n", event.uuid, event.at.ns));
  }
  if (!places_.emplace(event.uuid, place).second) {
    return invalid(format("sample_uuid: {} was issued before", event.uuid));
  }
  return {};
}

Result<void> ReferenceScan::add(const ReferenceEvent& event) {
  if (event.kind != ReferenceEventKind::other) {
    began_ = began_.known() ? std::min(began_, event.at) : event.at;
  }
  switch (event.kind) {
    case ReferenceEventKind::tracking_started:
      if (!tracking_.known()) tracking_ = event.at;
      break;
    case ReferenceEventKind::tracking_stopped:
      stopped_ = true;
      break;
    case ReferenceEventKind::ended:
      ended_ = true;
      break;
    case ReferenceEventKind::interrupted:
      interrupted_ = true;
      break;
    case ReferenceEventKind::issued:
      return issued(event);
    case ReferenceEventKind::recv_first:
      streamed_ = true;
      break;
    case ReferenceEventKind::recv_non_first:
      streamed_ = every_chunk_ = true;
      break;
    case ReferenceEventKind::started:
    case ReferenceEventKind::complete:
    case ReferenceEventKind::error:
    case ReferenceEventKind::other:
      break;
  }
  return {};
}

std::uint64_t ReferenceScan::rows_of_dataset() const {
  const Part& measured = parts_[kPerformance];
  if (!index_.known || measured.issued == 0) return 0;
  // Rows are asked without replacement, so a first pass that is whole reaches the last one.
  const std::uint64_t rows = std::uint64_t{measured.row_max} + 1;
  return measured.issued >= rows ? rows : 0;
}

Result<void> ReferenceScan::finish(ReferenceRun& run) {
  if (places_.size() == warmup_) {
    return invalid(warmup_ == 0 ? "no query was issued"
                                : "every query is of the warm-up: the load did not begin");
  }
  std::vector<std::uint16_t> numbers(parts_.size(), kWarmup);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.issued == 0) continue;
    numbers[i] = static_cast<std::uint16_t>(run.info.phases.size());
    run.info.phases.push_back({part.kind, part.name, false});
    const bool measured = i == kPerformance && tracking_.known();
    run.began.push_back(measured ? std::min(tracking_, part.began) : part.began);
  }
  for (auto& [uuid, place] : places_) {
    if (!place.left_out) place.phase = numbers[place.phase];
  }
  run.places = std::move(places_);
  if (interrupted_) {
    run.end = {RunState::interrupted, "its own event file says so"};
  } else if (ended_) {
    run.end = {RunState::complete, ""};
  }
  run.info.run_id = identity_.finish().substr(0, 32);
  return {};
}

}  // namespace assay::interchange
