// What a collective takes over the tiers of a network (hardware.h): the scale-up domain first, then
// each tier that the group needs. Members stand together, so most of a group's traffic stays on the
// fast links, and each byte goes over the tier that joins its two ends.
//
//   all-to-all   a token goes to its remote ranks one by one. A tier that joins r of n ranks,
//                where the one below joins q, carries (r − q) ÷ (n − 1) of the bytes.
//   all-reduce   reduce-scatter below, the rest above on slices: a tier that joins r groups of q
//                carries 2 (r − 1) ÷ r of bytes ÷ q
//
// The tiers' times add up, and a group beyond the scale-up domain pays the latency of its outermost
// tier there and back. DeepEP's published kernels on one to eight servers are met to 7 % that way
// (network_test.cc). Seconds, bytes; pure.
#pragma once

#include "sim/hardware.h"

namespace assay::sim {

struct CollectiveTime {
  double token_s = 0;  // of the bytes of one token
  double fixed_s = 0;  // beyond that of the scale-up domain
};

// `ranks` equal parts of `width` accelerators. `bytes`: of one token, to all its remote ranks;
// one rank has none. `scale_up_share`: of the fast links' rate. REQUIRES: width >= ranks > 0.
CollectiveTime all_to_all(const HardwareSpec& hardware, unsigned width, unsigned ranks,
                          double bytes, double scale_up_share);
// `bytes`: what each of `width` holds of one token. REQUIRES: width > 1.
CollectiveTime all_reduce(const HardwareSpec& hardware, unsigned width, double bytes,
                          double scale_up_share);

}  // namespace assay::sim
