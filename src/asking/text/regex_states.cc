#include "text/regex_states.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

namespace assay::text {
namespace {

constexpr std::uint32_t kCopiesMax = 256;
constexpr std::size_t kPlacesMax = 4000;
constexpr std::size_t kClassesMax = 128;
constexpr std::size_t kSetsMax = 63;
constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

// A place of the pattern: takes a character, or leads on without one.
struct Place {
  enum class Kind : std::uint8_t { take, fork, ahead, not_ahead, text_end, line_end, match };
  Kind kind = Kind::match;
  std::uint32_t set = 0;
  std::uint32_t to = 0;
  std::uint32_t other = 0;  // fork: tried after `to`
};

bool within(const CharSet& inner, const CharSet& outer) {
  return inner.intersected(outer.negated()).empty();
}

}  // namespace

class RegexStatesMaker {
 public:
  explicit RegexStatesMaker(const Regex& regex) : regex_(regex) {}

  std::shared_ptr<const RegexStates> make() {
    if (regex_.may_be_empty_ || regex_.sets_.size() > kSetsMax || !list_places()) return nullptr;
    if (!divide_characters() || !list_states()) return nullptr;
    find_loops();
    return std::make_shared<const RegexStates>(std::move(made_));
  }

 private:
  using Op = RegexOp;
  using Instruction = Regex::Instruction;
  using Places = std::vector<std::uint32_t>;

  // --- the pattern as places; a place's number is its instruction's, copies of runs come after ---

  bool list_places() {
    places_.resize(regex_.code_.size());
    for (std::uint32_t at = 0; at < regex_.code_.size(); ++at) {
      if (!write(at, regex_.code_[at]) || places_.size() > kPlacesMax) return false;
    }
    return true;
  }

  bool write(std::uint32_t at, const Instruction& op) {
    using Kind = Place::Kind;
    switch (op.op) {
      case Op::one:
        places_[at] = {Kind::take, op.set, at + 1, 0};
        return true;
      case Op::run_hold:
        if (!always_matches(at + 1, 0) && !never_begins_in(at + 1, set_of(op), 0)) return false;
        return write_run(at, op);
      case Op::run:
      case Op::run_lazy:
        return write_run(at, op);
      case Op::branch:
        places_[at] = {Kind::fork, 0, op.to, op.other};
        return true;
      case Op::jump:
        places_[at] = {Kind::fork, 0, op.to, op.to};
        return true;
      case Op::ahead_set:
        places_[at] = {Kind::ahead, op.set, at + 1, 0};
        return true;
      case Op::not_ahead_set:
        places_[at] = {Kind::not_ahead, op.set, at + 1, 0};
        return true;
      case Op::text_end:
        places_[at] = {Kind::text_end, 0, at + 1, 0};
        return true;
      case Op::line_end:
        places_[at] = {Kind::line_end, 0, at + 1, 0};
        return true;
      case Op::match:
        places_[at] = {Kind::match, 0, 0, 0};
        return true;
      default:
        return false;
    }
  }

  const CharSet& set_of(const Instruction& op) const { return regex_.sets_[op.set].set(); }

  std::uint32_t add(Place place) {
    places_.push_back(place);
    return static_cast<std::uint32_t>(places_.size() - 1);
  }

  // `min` places that take one, then a loop, or as many optional ones as there may be. Written from
  // the end, since a place names the next one.
  bool write_run(std::uint32_t at, const Instruction& op) {
    using Kind = Place::Kind;
    const bool lazy = op.op == Op::run_lazy;
    const std::uint32_t most = op.max == kUnlimited ? op.min : op.max;
    if (most > kCopiesMax) return false;
    std::uint32_t next = at + 1;
    const auto optional = [&](std::uint32_t take) {
      return lazy ? Place{Kind::fork, 0, at + 1, take} : Place{Kind::fork, 0, take, at + 1};
    };
    if (op.max == kUnlimited) {
      const std::uint32_t take = add({Kind::take, op.set, 0, 0});
      next = add(optional(take));
      places_[take].to = next;
    } else {
      for (std::uint32_t i = op.min; i < op.max; ++i) {
        const std::uint32_t take = add({Kind::take, op.set, next, 0});
        next = add(optional(take));
      }
    }
    for (std::uint32_t i = 0; i < op.min; ++i) next = add({Kind::take, op.set, next, 0});
    places_[at] = {Kind::fork, 0, next, next};
    return true;
  }

  // True if the code at `at` matches wherever it begins, so that nothing before it is given back.
  bool always_matches(std::uint32_t at, int depth) const {
    if (depth > 64) return false;
    const Instruction& op = regex_.code_[at];
    switch (op.op) {
      case Op::match:
        return true;
      case Op::run:
      case Op::run_hold:
      case Op::run_lazy:
        return op.min == 0 && always_matches(at + 1, depth + 1);
      case Op::jump:
        return always_matches(op.to, depth + 1);
      case Op::branch:
        return always_matches(op.to, depth + 1) || always_matches(op.other, depth + 1);
      default:
        return false;
    }
  }

  // True if the code at `at` cannot match before a character of `set`.
  bool never_begins_in(std::uint32_t at, const CharSet& set, int depth) const {
    if (depth > 64) return false;
    const Instruction& op = regex_.code_[at];
    const auto apart = [&] { return set_of(op).intersected(set).empty(); };
    switch (op.op) {
      case Op::one:
      case Op::ahead_set:
        return apart();
      case Op::run:
      case Op::run_hold:
      case Op::run_lazy:
        return apart() && (op.min > 0 || never_begins_in(at + 1, set, depth + 1));
      case Op::not_ahead_set:
        return within(set, set_of(op));
      case Op::text_end:
        return true;
      case Op::jump:
        return never_begins_in(op.to, set, depth + 1);
      case Op::branch:
        return never_begins_in(op.to, set, depth + 1) && never_begins_in(op.other, set, depth + 1);
      default:
        return false;
    }
  }

  // --- the characters as classes; a class is the sets that its characters are in, as bits ---

  bool divide_characters() {
    std::vector<char32_t> edges = {0, '\n', '\n' + 1};
    for (const CharTable& table : regex_.sets_) {
      for (const CharSet::Range& range : table.set().ranges()) {
        edges.push_back(range.first);
        edges.push_back(range.last + 1);
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    if (edges.back() == kCodePoints) edges.pop_back();
    std::unordered_map<std::uint64_t, std::uint8_t> known;
    std::vector<std::uint8_t> classes;
    for (const char32_t first : edges) {
      std::uint64_t sets = first == '\n' ? kNewline : 0;
      for (std::size_t i = 0; i < regex_.sets_.size(); ++i) {
        if (regex_.sets_[i].contains(first)) sets |= std::uint64_t{1} << i;
      }
      const auto [at, fresh] = known.try_emplace(sets, static_cast<std::uint8_t>(known.size()));
      if (fresh) members_.push_back(sets);
      if (members_.size() > kClassesMax) return false;
      classes.push_back(at->second);
    }
    made_.end_ = static_cast<std::uint8_t>(members_.size());
    fill_blocks(edges, classes);
    return true;
  }

  void fill_blocks(const std::vector<char32_t>& edges, const std::vector<std::uint8_t>& classes) {
    std::map<std::array<std::uint8_t, 256>, std::uint16_t> known;
    std::size_t i = 0;
    for (std::size_t b = 0; b < made_.index_.size(); ++b) {
      std::array<std::uint8_t, 256> block{};
      const auto first = static_cast<char32_t>(b << 8);
      for (char32_t c = first; c < first + 256;) {
        while (i + 1 < edges.size() && edges[i + 1] <= c) ++i;
        char32_t end = first + 256;
        if (i + 1 < edges.size()) end = std::min(end, edges[i + 1]);
        std::fill(block.begin() + (c - first), block.begin() + (end - first), classes[i]);
        c = end;
      }
      const auto [at, fresh] =
          known.try_emplace(block, static_cast<std::uint16_t>(made_.blocks_.size()));
      if (fresh) made_.blocks_.push_back(block);
      made_.index_[b] = at->second;
    }
    for (unsigned char c = 0; c < 128; ++c) made_.ascii_[c] = made_.class_of(c);
  }

  bool is_in(std::uint8_t one, std::uint32_t set) const {
    return one != made_.end_ && (members_[one] >> set & 1) != 0;
  }

  // --- the states ---

  // Follows `place` up to places that take a character of class `one`, and appends what comes after
  // them. Returns true at a match: places behind it are of no interest.
  bool follow(std::uint32_t place, std::uint8_t one, Places& after) {
    using Kind = Place::Kind;
    open_.assign(1, place);
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      if (seen_[at] == round_) continue;
      seen_[at] = round_;
      const Place& here = places_[at];
      switch (here.kind) {
        case Kind::match:
          return true;
        case Kind::take:
          if (!is_in(one, here.set) || taken_[here.to] == round_) break;
          taken_[here.to] = round_;
          after.push_back(here.to);
          break;
        case Kind::fork:
          open_.push_back(here.other);
          open_.push_back(here.to);
          break;
        case Kind::ahead:
          if (is_in(one, here.set)) open_.push_back(here.to);
          break;
        case Kind::not_ahead:
          if (!is_in(one, here.set)) open_.push_back(here.to);
          break;
        case Kind::text_end:
          if (one == made_.end_) open_.push_back(here.to);
          break;
        case Kind::line_end:
          if (one == made_.end_ || (members_[one] & kNewline) != 0) open_.push_back(here.to);
          break;
      }
    }
    return false;
  }

  // Returns the state's number; 0 when the table would be too large.
  std::uint32_t number(const Places& places) {
    const auto [at, fresh] =
        numbers_.try_emplace(places, static_cast<std::uint32_t>(lists_.size()));
    if (!fresh) return at->second;
    if ((lists_.size() + 1) << made_.shift_ > RegexStates::kEntriesMax) {
      too_large_ = true;
      return 0;
    }
    lists_.push_back(places);
    return at->second;
  }

  bool list_states() {
    made_.shift_ = static_cast<unsigned>(std::bit_width(members_.size()));
    seen_.assign(places_.size(), 0);
    taken_.assign(places_.size(), 0);
    number({});
    Places start;
    for (const std::uint32_t one : regex_.starts_) start.push_back(one);
    made_.start_ = number(start) << made_.shift_;
    for (std::size_t state = 0; state < lists_.size() && !too_large_; ++state) {
      made_.table_.resize((state + 1) << made_.shift_);
      for (std::size_t one = 0; one <= made_.end_; ++one) {
        ++round_;
        Places after;
        bool match = false;
        for (std::size_t i = 0; i < lists_[state].size() && !match; ++i) {
          match = follow(lists_[state][i], static_cast<std::uint8_t>(one), after);
        }
        const std::uint32_t next = number(after) << made_.shift_;
        made_.table_[(state << made_.shift_) + one] = next << 1 | (match ? 1 : 0);
      }
    }
    return !too_large_;
  }

  // The characters that lead from a state to itself: all with a match before them, or all without.
  void find_loops() {
    for (std::size_t state = 0; state < lists_.size(); ++state) {
      std::array<RegexStates::Loop, 2> loops{};
      std::array<int, 2> sizes{};
      for (unsigned c = 0; c < 128 && state > 0; ++c) {
        const auto entry = made_.table_[(state << made_.shift_) + made_.ascii_[c]];
        if (entry >> 1 != state << made_.shift_) continue;
        loops[entry & 1][c] = 1;
        ++sizes[entry & 1];
      }
      const std::size_t which = sizes[1] >= sizes[0] ? 1 : 0;
      if (sizes[which] == 0) {
        made_.loops_.push_back(RegexStates::kNoLoop);
        continue;
      }
      made_.loops_.push_back(static_cast<std::uint16_t>(made_.loop_tables_.size() << 1 | which));
      made_.loop_tables_.push_back(loops[which]);
    }
  }

  static constexpr std::uint64_t kNewline = std::uint64_t{1} << 63;

  const Regex& regex_;
  RegexStates made_{};
  std::vector<Place> places_{};
  std::vector<std::uint64_t> members_{};  // by class
  std::vector<Places> lists_{};           // by state
  std::map<Places, std::uint32_t> numbers_{};
  Places open_{};
  std::vector<std::uint32_t> seen_{};  // by place: the round that visited it
  std::vector<std::uint32_t> taken_{};
  std::uint32_t round_ = 0;
  bool too_large_ = false;
};

std::shared_ptr<const RegexStates> RegexStates::make(const Regex& regex) {
  return RegexStatesMaker(regex).make();
}

}  // namespace assay::text
