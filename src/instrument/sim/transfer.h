// SharedLink: a worker's outgoing link, shared equally by its transfers (processor sharing): the KV
// of prompts that move from prefill to decode workers. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace assay::sim {

class SharedLink {
 public:
  // `setup_s`: seconds before the first byte moves.
  SharedLink(double bytes_per_s, double setup_s) : rate_(bytes_per_s), setup_s_(setup_s) {}

  void add(std::uint32_t id, double bytes, Instant now);
  void remove(std::uint32_t id, Instant now);
  Instant next() const;  // when a transfer ends; Instant::max() when there is none
  // Appends the ids that end up to and including `now`.
  void advance(Instant now, std::vector<std::uint32_t>& done);
  std::size_t active() const { return transfers_.size(); }

 private:
  struct Transfer {
    std::uint32_t id = 0;
    double left = 0;  // bytes, set-up time counted as bytes at full rate
  };
  void progress(Instant now);

  double rate_;
  double setup_s_;
  std::vector<Transfer> transfers_{};
  Instant at_{};
};

}  // namespace assay::sim
