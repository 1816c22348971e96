// Merkle: a hash tree over a list (RFC 6962, section 2.1: SHA-256, leaves and nodes apart). Its
// root commits to every entry and their order; a path proves that one entry is in the list and
// shows nothing of the others. Hashes are 64 lower-case hex digits. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

std::string merkle_leaf(std::string_view entry);

class MerkleTree {
 public:
  // REQUIRES: at least one; each from merkle_leaf().
  explicit MerkleTree(std::vector<std::string> leaves);
  const std::string& root() const { return levels_.back().front(); }
  // From the leaf's neighbour up. REQUIRES: index below the number of leaves.
  std::vector<std::string> path(std::size_t index) const;

 private:
  std::vector<std::vector<std::string>> levels_{};
};

// Whether `leaf` is entry `index` of `count` under this root.
bool merkle_path_holds(std::string_view leaf, std::size_t index, std::size_t count,
                       const std::vector<std::string>& path, std::string_view root);

}  // namespace assay
