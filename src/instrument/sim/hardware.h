// HardwareSpec: the best that one accelerator and its links can do. The tables and their sources
// are catalogue/hardware/*.yaml; a roofline never exceeds them.
//
// Links are tiers: the scale-up domain (NVLink), then `network` (rack, cluster); what a collective
// takes over them is in network.h.
//
// Units: bytes, seconds, operations a second, watts. Dense tensor throughput (sparsity halved).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::sim {

struct LinkSpec {
  double bytes_per_s = 0;  // one accelerator, one direction
  double latency_s = 0;    // one small collective
};

// A part of the network beyond the fast links: servers of a rack, racks of a cluster.
struct NetworkTier {
  std::string name{};
  unsigned gpus_max = 0;  // that it joins; 0: any number
  LinkSpec link{};
  double share = 1;  // of the link's rate, which collectives reach
};

struct HardwareSpec {
  std::string name{};
  std::string title{};
  std::vector<std::string> aliases{};
  std::string generation{};  // hopper, blackwell, …: cards that share kernels
  double memory_bytes = 0;   // usable, not the marketing figure
  double memory_bytes_per_s = 0;
  std::map<std::string, double> flops{};  // by format: bf16, fp8, fp4, int8
  LinkSpec scale_up{};
  unsigned scale_up_gpus_max = 8;      // how many share the fast links
  double peer_bytes_per_s = 0;         // a mesh's single link between two; 0: as scale_up
  std::vector<NetworkTier> network{};  // ascending, the last without a limit
  double host_bytes_per_s = 0;
  double tdp_w = 0;
  double idle_w = 0;

  // The format's rate, or BF16's where the card has no units for the format: such weights are
  // widened before the multiplication.
  double flops_for(const std::string& format) const;
  // The slowest link between `gpus` accelerators that stand together: fast inside the scale-up
  // domain, else that of the tier which joins them.
  LinkSpec link(unsigned gpus) const;
};

// `where` names the file in errors.
Result<HardwareSpec> read_hardware(const Json& file, const std::string& where);

}  // namespace assay::sim
