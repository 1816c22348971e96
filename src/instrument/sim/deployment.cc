#include "sim/deployment.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "sim/expert_ranks.h"

namespace assay::sim {

Result<Parallelism> parse_parallelism(std::string_view text) {
  Parallelism out;
  bool ep_given = false;
  unsigned moe_tp = 0;
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const auto sides = split(trim(part), '=');
    if (sides.size() != 2) {
      return invalid(format("parallel: '{}' is not of the form tp=8,dp=1,ep=1", part));
    }
    const auto value = parse_uint(trim(sides[1]));
    const std::string key = lower(trim(sides[0]));
    // Published tables write dp=0 and ep=0 where there is none.
    if (value && *value == 0 && key != "tp" && key != "pp") continue;
    if (!value || *value == 0 || *value > 4096) {
      return invalid(format("parallel: {}: must be a whole number from 1 to 4096", sides[0]));
    }
    const auto number = static_cast<unsigned>(*value);
    if (key == "tp") {
      out.tp = number;
    } else if (key == "dp") {
      out.dp = number;
    } else if (key == "pp") {
      out.pp = number;
    } else if (key == "ep") {
      out.ep = number;
      ep_given = true;
    } else if (key == "moe_tp") {
      moe_tp = number;
    } else {
      return invalid(format("parallel: unknown '{}'; one of: tp, dp, ep, pp, moe_tp", key));
    }
  }
  const unsigned ranks = out.tp * out.dp;
  if (!ep_given) out.ep = moe_tp > 0 ? std::max(1U, ranks / moe_tp) : (out.dp > 1 ? ranks : 1);
  if (ranks % out.ep != 0) {
    return invalid(format("parallel: ep={} must divide tp*dp={}", out.ep, ranks));
  }
  if (moe_tp > 0 && moe_tp * out.ep != ranks) {
    return invalid(format("parallel: moe_tp*ep={} must equal tp*dp={}", moe_tp * out.ep, ranks));
  }
  return out;
}

std::string to_string(const Parallelism& p) {
  std::string out = format("tp={},dp={},ep={}", p.tp, p.dp, p.ep);
  if (p.pp > 1) out += format(",pp={}", p.pp);
  return out;
}

double expected_tokens(const std::vector<double>& acceptance) {
  double out = 1;
  double reach = 1;
  for (const double a : acceptance) {
    reach *= a;
    out += reach;
  }
  return out;
}

Subject Deployment::subject() const {
  return {.architecture = model.architecture,
          .model = model.name,
          .generation = hardware.generation,
          .hardware = hardware.name,
          .backend = backend.name,
          .precision = std::string(to_string(precision)),
          .version = backend_version};
}

std::string Deployment::kv_format() const {
  for (const Precision each : {Precision::bf16, Precision::fp8}) {
    if (kv_bytes == weight_bytes(each)) return std::string(to_string(each));
  }
  return format("{} bytes", kv_bytes);
}

double Deployment::weights_bytes_per_gpu() const {
  const ModelSpec& m = model;
  const Parallelism& p = parallelism;
  const double b = weight_bytes(precision);
  const double ba = weight_bytes(m.attention_dtype(precision));
  double bytes = m.mixer_weights() * ba / p.tp;
  bytes += m.ffn_layers() * m.ffn_weights() * (m.experts > 0 ? ba : b) / p.tp;
  bytes +=
      double{1} * m.moe_layers() * experts_per_rank(m, p) * m.expert_weights() * b / p.moe_tp();
  bytes += m.moe_layers() * m.shared_weights() * b / p.tp;
  bytes += (m.tied_embeddings ? 1 : 2) * 2.0 * m.head_weights() / p.tp;
  return bytes / p.pp;
}

double Deployment::kv_bytes_per_token() const {
  return (model.kv_elements_growing(parallelism.tp) * kv_bytes + model.index_elements()) /
         parallelism.pp;
}

double Deployment::kv_bytes_moved(double tokens) const {
  const double window = std::min(tokens, double{1} * model.sliding_window);
  return (model.kv_elements_growing(1) * tokens + model.kv_elements_window(1) * window) * kv_bytes +
         model.index_elements() * tokens + model.state_elements(1) * kStateBytes;
}

double Deployment::kv_capacity_tokens() const {
  const double weights = weights_bytes_per_gpu();
  const double total = hardware.memory_bytes;
  const double room = backend.fraction_of_free
                          ? (total - weights - backend.reserve_bytes) * backend.memory_fraction
                          : total * backend.memory_fraction - weights - backend.reserve_bytes;
  if (room <= 0 || weights >= total) return 0;
  return std::floor(room / (1 + backend.block_overhead) / std::max(1.0, kv_bytes_per_token()));
}

double Deployment::fixed_tokens() const {
  const double bytes = model.state_elements(parallelism.tp) * kStateBytes / parallelism.pp;
  return bytes > 0 ? std::ceil(bytes / std::max(1.0, kv_bytes_per_token())) : 0;
}

std::vector<double> Deployment::acceptance_for(double output) const {
  std::vector<double> out = acceptance;
  if (accept_growth > 0) {
    const double rejection = std::pow(std::max(1.0, output) / 922.0, -accept_growth);
    for (double& a : out) a = std::clamp(1 - (1 - a) * rejection, 0.0, 1.0);
  }
  return out;
}

double Deployment::tokens_per_step(double output) const {
  return expected_tokens(acceptance_for(output));
}

namespace {

std::string default_precision(const ModelSpec& model, const HardwareSpec& hardware) {
  if (!model.checkpoint_precision.empty()) return model.checkpoint_precision;
  if (hardware.flops.contains("fp4")) return "nvfp4";
  return hardware.flops.contains("fp8") ? "fp8" : "bf16";
}

unsigned recipe_drafts(const Deployment& d) {
  if (d.model.mtp_layers == 0) return 0;
  for (const MtpRule& rule : d.backend.mtp_rules) {
    const bool dp = d.parallelism.dp > 1;
    const bool ep = d.parallelism.ep > 1;
    if (rule.attention == "dp" && !dp) continue;
    if (rule.attention == "tp" && dp) continue;
    if (rule.experts == "ep" && !ep) continue;
    if (rule.experts == "tp" && ep) continue;
    if (d.subject().matches(rule.when)) return rule.drafts;
  }
  return 0;
}

Result<void> check(const Deployment& d) {
  const Parallelism& p = d.parallelism;
  const ModelSpec& m = d.model;
  if (m.experts == 0 && p.ep > 1) {
    return invalid(format("parallel: ep={}: {} has no experts", p.ep, m.name));
  }
  if (m.experts > 0 && p.ep > 4 * m.experts) {
    return invalid(format("parallel: ep={} is more than four copies of each of the {} experts",
                          p.ep, m.experts));
  }
  if (m.heads % p.tp != 0) {
    return invalid(format("parallel: tp={} must divide the {} heads", p.tp, m.heads));
  }
  if (d.drafts > 8) return invalid("mtp: at most 8 drafts");
  if (d.kv_capacity_tokens() < 1) {
    return invalid(
        format("{} in {} does not fit {} x {}: {:.0f} GB of weights on each of {:.0f} GB; raise "
               "tp or ep, or use a smaller precision",
               m.name, to_string(d.precision), p.gpus(), d.hardware.name,
               d.weights_bytes_per_gpu() * 1e-9, d.hardware.memory_bytes * 1e-9));
  }
  return {};
}

// What its generation of stacks does otherwise.
Result<void> take_software(const Catalogue& catalogue, const DeploymentRequest& request,
                           Deployment& out) {
  if (!request.software.empty()) {
    ASSIGN_OR_RETURN(const SoftwareSpec software, catalogue.software(request.software));
    out.constants = at_rate(out.constants, software.rate(out.subject()));
    if (software.dp_wait_steps && out.backend.dp_wait_steps > 0) {
      out.backend.dp_wait_steps = *software.dp_wait_steps;
    }
    out.draw_s = request.sampled ? software.sampled_entry_s * out.model.vocabulary : 0;
    out.software = software.name;
  }
  if (request.sampled && out.draw_s <= 0) {
    return invalid(
        "sampled: what drawing a token takes is said by a software generation with "
        "sampled_entry_s; name one, as v6.0");
  }
  return {};
}

}  // namespace

Result<Deployment> make_deployment(const Catalogue& catalogue, const DeploymentRequest& request) {
  Deployment out;
  ASSIGN_OR_RETURN(out.model, catalogue.model(request.model));
  ASSIGN_OR_RETURN(out.hardware, catalogue.hardware(request.hardware));
  ASSIGN_OR_RETURN(out.backend, catalogue.backend(request.backend));
  out.backend_version = request.backend_version;
  if (out.model.is_stages()) {
    return invalid(format("{} is a pipeline of stages, not a language model", out.model.name));
  }
  const std::string precision = request.precision.empty()
                                    ? default_precision(out.model, out.hardware)
                                    : lower(request.precision);
  const auto parsed = parse_precision(precision);
  if (!parsed && request.precision.empty()) {
    return invalid(
        format("the checkpoint of {} is in {}, which is not modelled; --precision names "
               "another format",
               out.model.name, precision));
  }
  ASSIGN_OR_RETURN(out.precision, parsed);
  out.parallelism = request.parallelism;
  Subject fitted = out.subject();
  fitted.model = catalogue.fitted_as(out.model);
  out.apart = request.role != WorkerRole::both;
  out.doubts = catalogue.doubts();
  const Calibration& calibration = catalogue.calibration();
  out.constants = calibration.resolve(out.subject(), fitted);
  TRY(take_software(catalogue, request, out));
  const bool attention_dp = out.parallelism.dp > 1;
  for (const ApartRule& rule : out.backend.rules_apart(fitted, request.role, attention_dp)) {
    for (const auto& [member, factor] : rule.times) out.constants.*member *= factor;
    out.step *= rule.step;
  }
  out.trust = trust_of(calibration.compared, out.subject(), out.apart);
  if (fitted.model != out.model.name && out.trust.level != Trust::Level::compared) {
    out.trust = trust_of(calibration.compared, fitted, out.apart);
    out.trust.says += format(" (constants of {}, which has the same layers)", fitted.model);
  }
  out.kv_bytes = out.backend.kv_bytes(out.subject());
  out.backend = out.backend.settled(out.subject(), out.parallelism.tp);
  if (request.drafts) {
    out.drafts = *request.drafts;
  } else if (!out.apart) {
    out.drafts = recipe_drafts(out);
  }
  out.acceptance = request.acceptance;
  if (!out.acceptance.empty()) out.drafts = static_cast<unsigned>(out.acceptance.size());
  if (out.acceptance.empty()) out.accept_growth = out.constants.accept_growth;
  double chance = std::min(0.99, out.constants.accept_first);
  while (out.acceptance.size() < out.drafts) {
    out.acceptance.push_back(chance);
    chance *= std::min(1.0, out.constants.accept_decay);
  }
  for (const double a : out.acceptance) {
    if (!(a >= 0 && a <= 1)) return invalid("mtp: acceptances lie from 0 to 1");
  }
  TRY(check(out));
  return out;
}

}  // namespace assay::sim
