#include "conformance/peer.h"

#include <algorithm>

namespace assay::conformance {

std::string_view to_string(Gaps gaps) {
  return gaps == Gaps::each ? "each gap" : "a reply's mean gap";
}

const std::vector<Peer>& peers() {
  static const std::vector<Peer> kAll{peer_assay(), peer_reference(), peer_aiperf(),
                                      peer_guidellm(), peer_vllm()};
  return kAll;
}

const Peer* find_peer(std::string_view id) {
  const auto found = std::ranges::find(peers(), id, &Peer::id);
  return found == peers().end() ? nullptr : &*found;
}

}  // namespace assay::conformance
