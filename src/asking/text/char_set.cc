#include "text/char_set.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

namespace assay::text {
namespace {

struct CategoryRange {
  CharSet::Range range{};
  GeneralCategory category = GeneralCategory::cn;
};

// Unicode as about 3,300 ranges of one category each.
const std::vector<CategoryRange>& category_ranges() {
  static const std::vector<CategoryRange> kRanges = [] {
    std::vector<CategoryRange> made;
    for (char32_t c = 0; c < kCodePoints; ++c) {
      const GeneralCategory now = category(c);
      if (made.empty() || made.back().category != now) {
        made.push_back({{c, c}, now});
      } else {
        made.back().range.last = c;
      }
    }
    return made;
  }();
  return kRanges;
}

// Maps a folded letter to all letters that differ from it only in case.
const std::unordered_map<char32_t, std::vector<char32_t>>& case_families() {
  static const auto kFamilies = [] {
    using G = GeneralCategory;
    constexpr CategoryMask kCased =
        bit(G::lu) | bit(G::ll) | bit(G::lt) | bit(G::nl) | bit(G::so) | bit(G::mn);
    std::unordered_map<char32_t, std::vector<char32_t>> made;
    for (const CategoryRange& one : category_ranges()) {
      if ((bit(one.category) & kCased) == 0) continue;
      for (char32_t c = one.range.first; c <= one.range.last; ++c) made[fold(c)].push_back(c);
    }
    std::erase_if(made, [](const auto& family) { return family.second.size() < 2; });
    return made;
  }();
  return kFamilies;
}

}  // namespace

CharSet CharSet::of(char32_t first, char32_t last) {
  CharSet set;
  set.ranges_.push_back({first, last});
  return set;
}

CharSet CharSet::categories(CategoryMask mask) {
  CharSet set;
  for (const CategoryRange& one : category_ranges()) {
    if ((bit(one.category) & mask) != 0) set.ranges_.push_back(one.range);
  }
  set.tidy();
  return set;
}

CharSet CharSet::where(bool (*predicate)(char32_t)) {
  CharSet set;
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (!predicate(c)) continue;
    if (!set.ranges_.empty() && set.ranges_.back().last + 1 == c) {
      set.ranges_.back().last = c;
    } else {
      set.ranges_.push_back({c, c});
    }
  }
  return set;
}

void CharSet::add(char32_t first, char32_t last) {
  ranges_.push_back({first, last});
  tidy();
}

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  tidy();
}

void CharSet::tidy() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().last + 1) {
      joined.back().last = std::max(joined.back().last, range.last);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

CharSet CharSet::negated() const {
  CharSet set;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) set.ranges_.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next < kCodePoints) set.ranges_.push_back({next, kCodePoints - 1});
  return set;
}

CharSet CharSet::intersected(const CharSet& other) const {
  CharSet outside = negated();
  outside.add(other.negated());
  return outside.negated();
}

CharSet CharSet::case_closed() const {
  CharSet closed = *this;
  for (const auto& [folded, family] : case_families()) {
    const bool any =
        std::any_of(family.begin(), family.end(), [this](char32_t c) { return contains(c); });
    if (!any) continue;
    for (const char32_t c : family) closed.ranges_.push_back({c, c});
  }
  closed.tidy();
  return closed;
}

bool CharSet::contains(char32_t c) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), c,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != ranges_.begin() && std::prev(after)->last >= c;
}

CharTable::CharTable(const CharSet& set) : set_(set) {
  for (unsigned char c = 0; c < 0x80; ++c) ascii_[c] = set.contains(c);
  std::map<Block, std::uint16_t> known;
  auto range = set.ranges().begin();
  const auto end = set.ranges().end();
  for (std::size_t b = 0; b < index_.size(); ++b) {
    const auto first = static_cast<char32_t>(b << 8);
    Block block{};
    for (auto r = range; r != end && r->first < first + 256; ++r) {
      const char32_t from = std::max(r->first, first);
      const char32_t to = std::min(r->last, static_cast<char32_t>(first + 255));
      if (from == first && to == first + 255) {
        block.fill(~std::uint64_t{0});
        continue;
      }
      for (char32_t c = from; c <= to; ++c) block[(c >> 6) & 3] |= std::uint64_t{1} << (c & 63);
    }
    while (range != end && range->last <= first + 255) ++range;
    const auto [at, fresh] = known.try_emplace(block, static_cast<std::uint16_t>(blocks_.size()));
    if (fresh) blocks_.push_back(block);
    index_[b] = at->second;
    if (block == Block{}) continue;
    for (char32_t c = first; c < first + 256; ++c) {
      if ((block[(c >> 6) & 3] >> (c & 63) & 1) == 0) continue;
      std::string bytes;
      append_utf8(bytes, c);
      lead_[static_cast<unsigned char>(bytes[0])] = true;
      if (c >= 0x1000) break;  // from here on a block of 256 has one first byte
    }
  }
}

}  // namespace assay::text
