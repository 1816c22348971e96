#include "sim/software.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {
namespace {

constexpr std::array kShares{
    &StepConstants::weight_bandwidth,     &StepConstants::compute,
    &StepConstants::attention_compute,    &StepConstants::kv_bandwidth,
    &StepConstants::mla_compute,          &StepConstants::prefill_attention,
    &StepConstants::expert_bandwidth,     &StepConstants::expert_compute,
    &StepConstants::all_reduce_bandwidth, &StepConstants::all_to_all_bandwidth};
constexpr std::array kSeconds{
    &StepConstants::all_reduce_s, &StepConstants::all_to_all_s,  &StepConstants::layer_s,
    &StepConstants::step_s,       &StepConstants::sequence_s,    &StepConstants::prefill_step_s,
    &StepConstants::draft_s,      &StepConstants::eager_layer_s, &StepConstants::request_s};

}  // namespace

double SoftwareSpec::rate(const Subject& subject) const {
  double out = 1;
  for (const auto& [when, times] : rates) {
    if (subject.matches(when)) out *= times;
  }
  return out;
}

bool SoftwareSpec::serves_apart(const std::string& architecture) const {
  return std::ranges::find(apart, architecture) != apart.end();
}

Result<SoftwareSpec> read_software(const Json& file, const std::string& where) {
  Fields top(file, where);
  SoftwareSpec out;
  top.text("kind");
  out.name = top.text("name");
  out.title = top.text("title", out.name);
  out.aliases = top.texts("aliases");
  out.apart = top.texts("apart");
  if (top.has("dp_wait_steps")) out.dp_wait_steps = top.count("dp_wait_steps");
  out.sampled_entry_s = top.number("sampled_entry_s", 0.0);
  for (const Json& item : top.value("rates").items()) {
    ASSIGN_OR_RETURN(Subject when, read_filter(item["when"], where + ": rates"));
    const double times = item["times"].as_double();
    if (!(times > 0)) return invalid(format("{}: rates: 'times' must be a number above 0", where));
    out.rates.emplace_back(std::move(when), times);
  }
  top.value("sources");
  TRY(top.done());
  return out;
}

StepConstants at_rate(StepConstants constants, double rate) {
  for (const auto share : kShares) constants.*share *= rate;
  for (const auto seconds : kSeconds) constants.*seconds /= rate;
  return constants;
}

}  // namespace assay::sim
