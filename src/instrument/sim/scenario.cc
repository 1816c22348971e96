#include "sim/scenario.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "sim/fields.h"
#include "sim/yaml_file.h"

namespace assay::sim {
namespace {

struct Pool {
  unsigned workers = 1;
  std::string parallel{};  // "" if not given
};

struct Split {
  Pool prefill{};
  Pool decode{};
};

// 4P+1D · 4P:tp=4+1D:tp=1,dp=32
Result<Split> parse_split(std::string_view text) {
  Split out;
  bool seen_prefill = false;
  bool seen_decode = false;
  for (const std::string_view part : split(text, '+')) {
    const std::string_view pool = trim(part);
    const std::size_t colon = pool.find(':');
    const std::string_view head = pool.substr(0, colon);
    const char letter = head.empty() ? ' ' : head.back();
    const auto count = parse_uint(head.substr(0, head.empty() ? 0 : head.size() - 1));
    const bool prefill = letter == 'P' || letter == 'p';
    const bool decode = letter == 'D' || letter == 'd';
    if ((!prefill && !decode) || !count || *count == 0 || *count > 10'000) {
      return invalid(format("disagg: '{}' is not of the form 4P+1D", text));
    }
    Pool& into = prefill ? out.prefill : out.decode;
    (prefill ? seen_prefill : seen_decode) = true;
    into.workers = static_cast<unsigned>(*count);
    if (colon != std::string_view::npos) into.parallel = std::string(pool.substr(colon + 1));
  }
  if (!seen_prefill || !seen_decode) {
    return invalid(format("disagg: '{}' needs prefill and decode workers, as 4P+1D", text));
  }
  return out;
}

DeploymentRequest request_of(const Scenario& scenario, const Parallelism& parallelism,
                             WorkerRole role) {
  DeploymentRequest out;
  out.model = scenario.model;
  out.hardware = scenario.hardware;
  out.backend = scenario.backend;
  out.backend_version = scenario.backend_version;
  out.precision = scenario.precision;
  out.parallelism = parallelism;
  out.drafts = scenario.mtp;
  out.acceptance = scenario.acceptance;
  out.role = role;
  out.software = scenario.software;
  out.sampled = scenario.sampled;
  return out;
}

// Without --parallel: tensor parallelism over one node, or over fewer GPUs if there are fewer.
Result<Parallelism> layout(const Scenario& scenario) {
  if (!scenario.parallel.empty()) return parse_parallelism(scenario.parallel);
  Parallelism out;
  out.tp = scenario.gpus == 0 ? 1 : std::min(8U, scenario.gpus);
  return out;
}

Result<Parallelism> pool_layout(const Pool& pool, const Parallelism& otherwise) {
  if (pool.parallel.empty()) return otherwise;
  return parse_parallelism(pool.parallel);
}

Result<Fault> read_fault(const Json& item, const std::string& where) {
  Fields at(item, where + ": faults");
  Fault out;
  out.kind = static_cast<Fault::Kind>(at.choice("kind", {"kill", "revive", "slow", "shrink_kv"}));
  out.at_s = at.seconds("at");
  out.worker = at.count("worker", 0U);
  out.factor = at.number("factor", 1.0);
  if (out.kind == Fault::Kind::slow && out.factor <= 0) at.fail("'factor' must be above 0");
  if (out.kind == Fault::Kind::shrink_kv && out.factor > 1) at.fail("'factor' is a share, 0 to 1");
  TRY(at.done());
  return out;
}

}  // namespace

Result<Scenario> read_scenario(std::string_view yaml, const std::string& where) {
  ASSIGN_OR_RETURN(const Json file, parse_yaml(yaml, where));
  Fields top(file, where);
  Scenario out;
  out.model = top.text("model");
  out.hardware = top.text("hardware");
  out.backend = top.text("backend", out.backend);
  out.backend_version = top.text("backend_version", out.backend_version);
  out.precision = top.text("precision", out.precision);
  out.parallel = top.text("parallel", out.parallel);
  out.gpus = top.count("gpus", out.gpus);
  out.disagg = top.text("disagg", out.disagg);
  out.router = top.text("router", out.router);
  out.software = top.text("software", "");
  out.sampled = top.flag("sampled", false);
  if (top.has("mtp")) out.mtp = top.count("mtp");
  for (const Json& item : top.value("acceptance").items()) {
    out.acceptance.push_back(item.as_double(-1));
  }
  out.seed = top.count("seed", 1U);
  out.prefix_cache = top.flag("prefix_cache", out.prefix_cache);
  Fields noise = top.map("noise", false);
  out.noise_sigma = noise.number("sigma", 0.0);
  out.stall_chance = noise.number("stall_chance", 0.0);
  top.absorb(noise);
  out.kv_share = top.number("kv_share", 1.0, 0.0001);
  out.decode_batch = top.count("decode_batch", 0U);
  if (out.decode_batch > 0 && out.disagg.empty()) top.fail("decode_batch: needs disagg");
  out.speedup = top.number("speedup", 1.0, 1e-6);
  for (const Json& item : top.value("faults").items()) {
    ASSIGN_OR_RETURN(const Fault fault, read_fault(item, where));
    out.faults.push_back(fault);
  }
  TRY(top.done());
  return out;
}

Result<Scenario> read_scenario_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, std::size_t{1} << 20));
  return read_scenario(text, path);
}

Result<ClusterSpec> make_cluster_spec(const Catalogue& catalogue, const Scenario& scenario) {
  ClusterSpec out;
  ASSIGN_OR_RETURN(const Parallelism own, layout(scenario));
  ASSIGN_OR_RETURN(out.router, parse_router(scenario.router));
  if (scenario.disagg.empty()) {
    ASSIGN_OR_RETURN(out.deployment,
                     make_deployment(catalogue, request_of(scenario, own, WorkerRole::both)));
    const unsigned each = own.gpus();
    if (scenario.gpus > 0 && scenario.gpus % each != 0) {
      return invalid(format("gpus: {} is not a multiple of the {} that one worker ({}) takes",
                            scenario.gpus, each, to_string(own)));
    }
    out.workers = scenario.gpus > 0 ? scenario.gpus / each : 1;
  } else {
    ASSIGN_OR_RETURN(const Split pools, parse_split(scenario.disagg));
    ASSIGN_OR_RETURN(const Parallelism decode, pool_layout(pools.decode, own));
    ASSIGN_OR_RETURN(const Parallelism prefill, pool_layout(pools.prefill, own));
    ASSIGN_OR_RETURN(out.deployment,
                     make_deployment(catalogue, request_of(scenario, decode, WorkerRole::decode)));
    ASSIGN_OR_RETURN(out.prefill, make_deployment(catalogue, request_of(scenario, prefill,
                                                                        WorkerRole::prefill)));
    out.workers = pools.decode.workers;
    out.prefill_workers = pools.prefill.workers;
    if (scenario.gpus > 0 && scenario.gpus != out.gpus()) {
      return invalid(
          format("gpus: {} given, but {} takes {}", scenario.gpus, scenario.disagg, out.gpus()));
    }
  }
  out.seed = scenario.seed;
  out.prefix_cache = scenario.prefix_cache;
  out.noise_sigma = scenario.noise_sigma;
  out.stall_chance = scenario.stall_chance;
  out.kv_share = scenario.kv_share;
  out.decode_batch = scenario.decode_batch;
  for (const Fault& fault : scenario.faults) {
    const unsigned count = out.workers + (out.prefill ? out.prefill_workers : 0);
    if (fault.worker >= count) {
      return invalid(
          format("faults: worker {}: there are {} workers, from 0", fault.worker, count));
    }
  }
  return out;
}

std::string layout_text(const ClusterSpec& spec) {
  const Deployment& d = spec.deployment;
  std::string out = to_string(d.parallelism);
  if (spec.prefill) {
    out = format("{}P({}) + {}D({})", spec.prefill_workers, to_string(spec.prefill->parallelism),
                 spec.workers, out);
  } else if (spec.workers > 1) {
    out += format(", {} workers", spec.workers);
  }
  return d.drafts > 0 ? out + format(", MTP {}", d.drafts) : out;
}

std::string describe(const ClusterSpec& spec) {
  const Deployment& d = spec.deployment;
  return format("{} {} on {} x {}, {}{}{}, {}, KV {}{}", d.model.name, to_string(d.precision),
                spec.gpus(), d.hardware.name, d.backend.name, d.backend_version.empty() ? "" : " ",
                d.backend_version, layout_text(spec), d.kv_format(),
                d.software.empty() ? "" : ", software of " + d.software);
}

}  // namespace assay::sim
