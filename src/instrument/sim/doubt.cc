#include "sim/doubt.h"

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {
namespace {

Range read_range(Fields& at, const std::string& where, std::string_view key) {
  const Json& pair = at.value(key);
  const Range out{pair[0].as_double(), pair[1].as_double()};
  if (pair.size() != 2 || !(out.low > 0) || !(out.high >= out.low)) {
    at.fail(format("{}: '{}' must be [low, high], both above 0", where, key));
  }
  return out;
}

}  // namespace

Result<Doubt> read_doubt(const Json& item, const std::string& where) {
  Fields at(item, where + ": doubt");
  Doubt out;
  const std::string trust = at.text("trust", std::string());
  for (const Trust::Level level :
       {Trust::Level::compared, Trust::Level::beyond, Trust::Level::new_mix, Trust::Level::new_card,
        Trust::Level::new_model, Trust::Level::unproven}) {
    if (to_string(level) == trust) out.trust = level;
  }
  if (!trust.empty() && !out.trust) at.fail(format("unknown trust '{}'", trust));
  if (at.has("generation_known")) out.generation_known = at.flag("generation_known");
  if (at.has("what")) {
    ASSIGN_OR_RETURN(out.what, read_filter(at.value("what"), where + ": doubt"));
  }
  out.apart = at.flag("apart", false);
  out.below = at.number("below", 0.0);
  out.points = at.count("points");
  out.tpot = read_range(at, where, "tpot");
  out.ttft = read_range(at, where, "ttft");
  out.throughput = read_range(at, where, "throughput");
  TRY(at.done());
  return out;
}

Doubt doubt_of(const std::vector<Doubt>& doubts, const Trust& trust, const Subject& subject,
               bool apart, double in_flight) {
  for (const Doubt& doubt : doubts) {
    if (doubt.trust && *doubt.trust != trust.level) continue;
    if (doubt.generation_known && *doubt.generation_known != trust.generation_known) continue;
    if (doubt.apart != apart || !subject.matches(doubt.what)) continue;
    if (doubt.below > 0 && in_flight >= doubt.below) continue;
    return doubt;
  }
  return {};
}

}  // namespace assay::sim
