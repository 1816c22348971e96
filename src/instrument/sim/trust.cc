#include "sim/trust.h"

#include <algorithm>

#include "base/format.h"

namespace assay::sim {

std::string_view to_string(Trust::Level level) {
  switch (level) {
    case Trust::Level::compared:
      return "compared";
    case Trust::Level::beyond:
      return "beyond";
    case Trust::Level::new_mix:
      return "new mix";
    case Trust::Level::new_card:
      return "new card";
    case Trust::Level::new_model:
      return "new model";
    case Trust::Level::unproven:
      return "unproven";
  }
  return "";
}

Trust Trust::at(double in_flight) const {
  if (level != Level::compared || in_flight_max <= 0 || in_flight <= in_flight_max) return *this;
  Trust out = *this;
  out.level = Level::beyond;
  out.says += format(", all with at most {:.4g} in flight on an accelerator", in_flight_max);
  return out;
}

namespace {

// What the comparisons say of a subject.
struct Known {
  const ComparedFamily* same = nullptr;
  bool model = false;
  bool card = false;
  bool generation = false;
};

Known known_of(const std::vector<ComparedFamily>& compared, const Subject& subject, bool apart) {
  Known out;
  for (const ComparedFamily& one : compared) {
    if (one.apart == apart && subject.matches(one.what)) out.same = &one;
    out.model = out.model || one.what.model == subject.model;
    out.card = out.card || one.what.hardware == subject.hardware;
    out.generation = out.generation || one.what.generation == subject.generation;
  }
  return out;
}

Trust judged(const Known& known, const Subject& subject, bool apart) {
  const std::string near =
      known.generation ? "" : format(", nor to one of any {} card", subject.generation);
  if (known.same != nullptr) {
    return {Trust::Level::compared,
            format("compared with {} measured points, TPOT {:.1f} % off in the middle",
                   known.same->points, 100 * known.same->tpot_error),
            known.same->in_flight_max};
  }
  if (known.model && known.card) {
    return {Trust::Level::new_mix,
            apart ? std::string("no constant was fitted with prefill and decode apart")
                  : format("{} and {} were compared with measurements, but not together with {} "
                           "in {}",
                           subject.model, subject.hardware, subject.backend, subject.precision)};
  }
  if (known.model) {
    return {Trust::Level::new_card,
            format("no constant was fitted to a measurement of {}{}", subject.hardware, near)};
  }
  if (known.card) {
    return {Trust::Level::new_model,
            format("no constant was fitted to a measurement of {}", subject.model)};
  }
  return {Trust::Level::unproven, format("no constant was fitted to a measurement of {} or of {}{}",
                                         subject.model, subject.hardware, near)};
}

}  // namespace

Trust trust_of(const std::vector<ComparedFamily>& compared, const Subject& subject, bool apart) {
  const Known known = known_of(compared, subject, apart);
  Trust out = judged(known, subject, apart);
  out.generation_known = known.generation;
  return out;
}

Trust trust_of_stages(const std::string& model, const std::string& hardware) {
  return {Trust::Level::unproven,
          format("the stages of {} are from published figures of one system; {} follows by its "
                 "compute",
                 model, hardware)};
}

}  // namespace assay::sim
