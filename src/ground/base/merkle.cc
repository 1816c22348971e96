#include "base/merkle.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay {
namespace {

// "" for what are no 64 hex digits.
std::string from_hex(std::string_view hex) {
  std::string out;
  if (hex.size() != 64) return out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_value(hex[i]);
    const int low = hex_value(hex[i + 1]);
    if (high < 0 || low < 0) return {};
    out += static_cast<char>(16 * high + low);
  }
  return out;
}

std::string node(std::string_view left, std::string_view right) {
  return sha256_hex('\x01' + from_hex(left) + from_hex(right));
}

}  // namespace

std::string merkle_leaf(std::string_view entry) {
  return sha256_hex(std::string(1, '\0') + std::string(entry));
}

// The RFC splits at the largest power of two; pairing from the left, with a last node that has no
// neighbour moved up unchanged, is the same tree.
MerkleTree::MerkleTree(std::vector<std::string> leaves) {
  CHECK(!leaves.empty());
  levels_.push_back(std::move(leaves));
  while (levels_.back().size() > 1) {
    const std::vector<std::string>& below = levels_.back();
    std::vector<std::string> level;
    for (std::size_t i = 0; i < below.size(); i += 2) {
      level.push_back(i + 1 < below.size() ? node(below[i], below[i + 1]) : below[i]);
    }
    levels_.push_back(std::move(level));
  }
}

std::vector<std::string> MerkleTree::path(std::size_t index) const {
  CHECK(index < levels_.front().size());
  std::vector<std::string> out;
  for (const std::vector<std::string>& level : levels_) {
    if ((index ^ 1) < level.size()) out.push_back(level[index ^ 1]);
    index /= 2;
  }
  return out;
}

bool merkle_path_holds(std::string_view leaf, std::size_t index, std::size_t count,
                       const std::vector<std::string>& path, std::string_view root) {
  if (index >= count) return false;
  std::string hash(leaf);
  std::size_t used = 0;
  for (; count > 1; count = (count + 1) / 2, index /= 2) {
    if ((index ^ 1) >= count) continue;
    if (used == path.size()) return false;
    const std::string& other = path[used++];
    hash = index % 2 == 0 ? node(hash, other) : node(other, hash);
  }
  return used == path.size() && hash == root;
}

}  // namespace assay
