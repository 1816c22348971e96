#include "sim/constants.h"

#include "base/format.h"
#include "base/text.h"
#include "sim/fields.h"

namespace assay::sim {

const std::vector<ConstantName>& constant_names() {
  using C = StepConstants;
  static const std::vector<ConstantName> kNames = {
      {"weight_bandwidth", &C::weight_bandwidth},
      {"compute", &C::compute},
      {"attention_compute", &C::attention_compute},
      {"kv_bandwidth", &C::kv_bandwidth},
      {"mla_compute", &C::mla_compute},
      {"prefill_attention", &C::prefill_attention},
      {"expert_bandwidth", &C::expert_bandwidth},
      {"expert_thin_columns", &C::expert_thin_columns},
      {"expert_imbalance", &C::expert_imbalance},
      {"expert_compute", &C::expert_compute},
      {"all_reduce_bandwidth", &C::all_reduce_bandwidth},
      {"all_to_all_bandwidth", &C::all_to_all_bandwidth},
      {"all_reduce_s", &C::all_reduce_s},
      {"all_to_all_s", &C::all_to_all_s},
      {"layer_s", &C::layer_s},
      {"step_s", &C::step_s},
      {"sequence_s", &C::sequence_s},
      {"prefill_step_s", &C::prefill_step_s},
      {"activation_passes", &C::activation_passes},
      {"linear_extra", &C::linear_extra},
      {"norm_extra", &C::norm_extra},
      {"requantise_extra", &C::requantise_extra},
      {"draft_s", &C::draft_s},
      {"request_s", &C::request_s},
      {"eager_layer_s", &C::eager_layer_s},
      {"draft_coverage", &C::draft_coverage},
      {"accept_first", &C::accept_first},
      {"accept_decay", &C::accept_decay},
      {"accept_growth", &C::accept_growth},
  };
  return kNames;
}

namespace {

bool fits(const std::string& filter, const std::string& value) {
  return filter.empty() || filter == value;
}

bool begins(const std::string& filter, const std::string& version) {
  return fits(filter, version) || version.starts_with(filter + '.');
}

}  // namespace

Result<std::vector<std::pair<double StepConstants::*, double>>> read_factors(
    const Json& map, const std::string& where) {
  std::vector<std::pair<double StepConstants::*, double>> out;
  std::vector<std::string_view> known;
  for (const ConstantName& constant : constant_names()) known.push_back(constant.name);
  for (const auto& [key, value] : map.members()) {
    double StepConstants::*member = nullptr;
    for (const ConstantName& constant : constant_names()) {
      if (constant.name == key) member = constant.member;
    }
    if (member == nullptr) {
      const std::string_view near = nearest(key, known);
      return invalid(format("{}: unknown constant '{}'{}", where, key,
                            near.empty() ? "" : format("; did you mean '{}'?", near)));
    }
    if (!value.is_number() || !(value.as_double() > 0)) {
      return invalid(format("{}: '{}' must be a number above 0", where, key));
    }
    out.emplace_back(member, value.as_double());
  }
  return out;
}

bool Subject::matches(const Subject& filter) const {
  return fits(filter.architecture, architecture) && fits(filter.model, model) &&
         fits(filter.generation, generation) && fits(filter.hardware, hardware) &&
         fits(filter.backend, backend) && fits(filter.precision, precision) &&
         begins(filter.version, version);
}

Result<Subject> read_filter(const Json& when, const std::string& where) {
  Fields at(when, where + ": when");
  Subject out;
  out.architecture = at.text("architecture", std::string());
  out.model = at.text("model", std::string());
  out.generation = at.text("generation", std::string());
  out.hardware = at.text("hardware", std::string());
  out.backend = at.text("backend", std::string());
  out.precision = at.text("precision", std::string());
  out.version = at.text("version", std::string());
  TRY(at.done());
  return out;
}

StepConstants Calibration::resolve(const Subject& subject, const Subject& alike) const {
  StepConstants out = base;
  for (const Adjustment& adjustment : adjustments) {
    if (!subject.matches(adjustment.when) && !alike.matches(adjustment.when)) continue;
    for (const auto& [member, factor] : adjustment.times) out.*member *= factor;
  }
  return out;
}

Result<void> read_calibration(const Json& file, const std::string& where, Calibration& into) {
  Fields top(file, where);
  top.text("kind");
  into.provenance = top.text("provenance", into.provenance);
  top.value("fit");
  ASSIGN_OR_RETURN(const auto base, read_factors(top.value("base"), where + ": base"));
  if (!base.empty()) {  // what came before were factors of another base
    into.adjustments.clear();
    into.compared.clear();
  }
  for (const auto& [member, value] : base) into.base.*member = value;
  for (const Json& item : top.value("adjust").items()) {
    Adjustment adjustment;
    ASSIGN_OR_RETURN(adjustment.when, read_filter(item["when"], where + ": adjust"));
    ASSIGN_OR_RETURN(adjustment.times, read_factors(item["times"], where + ": adjust: times"));
    into.adjustments.push_back(std::move(adjustment));
  }
  for (const Json& item : top.value("compared").items()) {
    ComparedFamily family;
    ASSIGN_OR_RETURN(family.what, read_filter(item["what"], where + ": compared"));
    Fields at(item, where + ": compared");
    at.value("what");
    family.points = at.count("points");
    family.tpot_error = at.number("tpot_error");
    family.in_flight_max = at.number("in_flight_max", 0.0);
    family.apart = at.flag("apart", false);
    TRY(at.done());
    into.compared.push_back(std::move(family));
  }
  const Json& load = top.value("load");
  if (!load.is_null()) {
    ASSIGN_OR_RETURN(into.load, read_load_map(load, where + ": load"));
  }
  return top.done();
}

}  // namespace assay::sim
