#include "sim/hardware.h"

#include <algorithm>
#include "sim/fields.h"

namespace assay::sim {

double HardwareSpec::flops_for(const std::string& format) const {
  const auto found = flops.find(format);
  return found != flops.end() ? found->second : flops.at("bf16");
}

LinkSpec HardwareSpec::link(unsigned gpus) const {
  if (gpus > scale_up_gpus_max) return scale_out;
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
  for (const char* key : {"memory_bytes", "memory_bytes_per_s", "flops", "scale_up", "scale_out",
                          "host_bytes_per_s", "power"}) {
    sources.text(key);
  }
  return sources.done();
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
  Fields net = top.map("scale_out");
  out.scale_out = {net.number("bytes_per_s", {}, 1), net.number("latency_us") * 1e-6};
  top.absorb(net);
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
