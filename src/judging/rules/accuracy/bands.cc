#include "rules/accuracy/bands.h"

#include <algorithm>

namespace assay::rules {

namespace {

// A broken file counts as a run here; its own rule reports it.
bool has_run(const PointFolder& point) {
  const Accuracy& accuracy = point.accuracy;
  return accuracy.scored() || accuracy.document.broken() || !accuracy.issues.empty();
}

std::vector<AccuracyBand> mandatory_bands(const Curve& curve) {
  std::vector<AccuracyBand> bands{{.name = "ultra_low_concurrency"}};
  for (const PointFolder& point : curve.points) {
    if (curve.ultra_low(point)) bands.front().points.push_back(&point);
  }
  for (const rulebook::Region region :
       {rulebook::Region::low_concurrency, rulebook::Region::med_concurrency,
        rulebook::Region::high_concurrency}) {
    AccuracyBand band{.name = to_string(region)};
    for (const PointFolder& point : curve.points) {
      if (curve.in_region(point, region)) band.points.push_back(&point);
    }
    bands.push_back(std::move(band));
  }
  return bands;
}

// Assigns runs to bands one after another. If a run's bands are taken, it moves their owners to
// other bands of theirs (augmenting paths).
class Matching {
 public:
  explicit Matching(std::vector<AccuracyBand>& bands) : bands_(bands) {}

  bool place(const PointFolder* run) {
    std::vector<bool> asked(bands_.size(), false);
    return place(run, asked);
  }

 private:
  bool place(const PointFolder* run, std::vector<bool>& asked) {
    for (std::size_t i = 0; i < bands_.size(); ++i) {
      if (asked[i] || std::ranges::count(bands_[i].points, run) == 0) continue;
      asked[i] = true;
      std::vector<const PointFolder*>& runs = bands_[i].runs;
      if (runs.empty() || place(runs.front(), asked)) {
        runs.assign(1, run);
        return true;
      }
    }
    return false;
  }

  std::vector<AccuracyBand>& bands_;
};

}  // namespace

AccuracyBands accuracy_bands(const Curve& curve) {
  AccuracyBands out{.bands = mandatory_bands(curve)};
  std::vector<const PointFolder*> runs;
  for (const PointFolder& point : curve.points) {
    if (has_run(point) && !point.dedicated()) runs.push_back(&point);
  }
  const auto elected = [](const PointFolder* run) { return run->offline == Offline::elected; };
  // std::ranges cannot be used: clang 14 cannot parse its result.
  std::stable_partition(runs.begin(), runs.end(),
                        [&](const PointFolder* run) { return !elected(run); });
  std::vector<const PointFolder*> left;
  Matching matching(out.bands);
  for (const PointFolder* run : runs) {
    if (!matching.place(run)) left.push_back(run);
  }
  for (const PointFolder* run : left) {
    if (curve.regions && !elected(run)) out.spare.push_back(run);
    const auto home = std::ranges::find_if(out.bands, [run](const AccuracyBand& band) {
      return std::ranges::count(band.points, run) > 0;
    });
    if (home != out.bands.end()) home->runs.push_back(run);
  }
  const PointFolder* offline = curve.offline_point();
  if (!curve.agentic && offline != nullptr) {
    AccuracyBand& band = out.bands.emplace_back(AccuracyBand{.name = "offline"});
    band.points.push_back(offline);
    if (has_run(*offline)) band.runs.push_back(offline);
  }
  return out;
}

bool any_accuracy(const Submission& tree) {
  return std::ranges::any_of(tree.systems, [](const System& system) {
    return std::ranges::any_of(system.curves, [](const Curve& curve) {
      return std::ranges::any_of(curve.points,
                                 [](const PointFolder& point) { return point.accuracy.present(); });
    });
  });
}

std::optional<double> weighted_mean(const Accuracy& accuracy, std::string_view metric,
                                    Inlined inlined) {
  double sum = 0;
  double weighted = 0;
  double weights = 0;
  double count = 0;
  bool known = true;
  for (const AccuracyEntry& entry : accuracy.entries) {
    const double* value = entry.metric(metric);
    if (value == nullptr || (entry.performance && inlined == Inlined::left_out)) continue;
    known = known && entry.weight.has_value();
    sum += *value;
    weighted += *value * entry.weight.value_or(0);
    weights += entry.weight.value_or(0);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return known && weights > 0 ? weighted / weights : sum / count;
}

}  // namespace assay::rules
