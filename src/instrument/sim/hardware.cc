#include "sim/hardware.h"

#include <algorithm>

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {

double HardwareSpec::flops_for(const std::string& format) const {
  const auto found = flops.find(format);
  return found != flops.end() ? found->second : flops.at("bf16");
}

LinkSpec HardwareSpec::link(unsigned gpus) const {
  if (gpus > scale_up_gpus_max) {
    const auto joins = [gpus](const NetworkTier& tier) {
      return tier.gpus_max == 0 || gpus <= tier.gpus_max;
    };
    return std::ranges::find_if(network, joins)->link;
  }
  if (peer_bytes_per_s > 0 && gpus > 1) {
    const double mesh = peer_bytes_per_s * (gpus - 1);
    return {std::min(mesh, scale_up.bytes_per_s), scale_up.latency_s};
  }
  return scale_up;
}

namespace {

Result<void> sourced(Fields& top) {
  // Each figure needs a source.
  Fields sources = top.map("sources");
  for (const char* key :
       {"memory_bytes", "memory_bytes_per_s", "flops", "scale_up", "host_bytes_per_s", "power"}) {
    sources.text(key);
  }
  sources.text(sources.has("network") ? "network" : "scale_out");
  return sources.done();
}

constexpr double kUsualShare = 0.9;

// `network`, a list of tiers; or `scale_out`, one tier for any number.
std::vector<NetworkTier> read_network(Fields& top, unsigned scale_up_gpus_max) {
  std::vector<NetworkTier> out;
  const auto read = [&](Fields& tier, std::string name) {
    NetworkTier one{.name = std::move(name)};
    one.gpus_max = tier.count("gpus_max", 0);
    one.link = {tier.number("bytes_per_s", {}, 1), tier.number("latency_us") * 1e-6};
    one.share = tier.number("share", kUsualShare, 0.01);
    if (one.share > 1) tier.fail(tier.where("share") + ": must be at most 1");
    out.push_back(std::move(one));
    top.absorb(tier);
  };
  if (top.has("scale_out")) {
    Fields tier = top.map("scale_out");
    read(tier, "cluster");
    return out;
  }
  const Json& list = top.value("network");
  if (list.size() == 0) top.fail(top.where("network") + ": expected a list of tiers");
  unsigned below = scale_up_gpus_max;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Fields tier(list[i], format("{}[{}]", top.where("network"), i));
    read(tier, tier.text("name"));
    const bool last = i + 1 == list.size();
    const unsigned joins = out.back().gpus_max;
    if (last ? joins != 0 : joins <= below) {
      top.fail(format("{}[{}]: gpus_max: {}", top.where("network"), i,
                      last ? "the last tier has none: it joins any number"
                           : format("must be above {}, what the tier before joins", below)));
    }
    below = joins;
  }
  return out;
}

}  // namespace

Result<HardwareSpec> read_hardware(const Json& file, const std::string& where) {
  Fields top(file, where);
  top.text("kind");
  HardwareSpec out;
  out.name = top.text("name");
  out.title = top.text("title", out.name);
  out.aliases = top.texts("aliases");
  out.generation = top.text("generation");
  out.memory_bytes = top.number("memory_bytes", {}, 1);
  out.memory_bytes_per_s = top.number("memory_bytes_per_s", {}, 1);
  Fields flops = top.map("flops");
  out.flops["bf16"] = flops.number("bf16", {}, 1);
  for (const char* key : {"fp8", "fp4", "int8"}) {
    if (flops.has(key)) out.flops[key] = flops.number(key, {}, 1);
  }
  top.absorb(flops);
  Fields up = top.map("scale_up");
  out.scale_up = {up.number("bytes_per_s", {}, 1), up.number("latency_us") * 1e-6};
  out.scale_up_gpus_max = std::max(1U, up.count("gpus_max"));
  out.peer_bytes_per_s = up.number("peer_bytes_per_s", 0.0);
  top.absorb(up);
  out.network = read_network(top, out.scale_up_gpus_max);
  out.host_bytes_per_s = top.number("host_bytes_per_s", {}, 1);
  Fields power = top.map("power");
  out.tdp_w = power.number("tdp_w", {}, 1);
  out.idle_w = power.number("idle_w");
  top.absorb(power);
  TRY(sourced(top));
  TRY(top.done());
  return out;
}

}  // namespace assay::sim
