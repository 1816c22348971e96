// Agreement: how far judges agree with one another and with people, on the same replies.
//
//   Cohen's kappa       two raters, (p_o − p_e) ÷ (1 − p_e) (Cohen 1960)
//   Fleiss' kappa       one panel, each reply rated by all of it (Fleiss 1971)
//   Krippendorff's alpha  nominal; raters may be absent (Krippendorff 2011)
//   intervals           2.5 and 97.5 percentiles of 1,000 draws of replies, from a fixed seed
//
// None of them is defined where only one of the two words was used: it is absent then, not 1.
//
// Several people's labels of one reply stay a distribution: two of five who say "unsafe" are a
// result, and no majority hides it. A group (a region, a profession) has a distribution of its own.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "safety/grade.h"
#include "safety/items.h"

namespace assay::safety {

// How many raters said each word of one reply.
struct Ratings {
  std::uint64_t safe = 0;
  std::uint64_t unsafe = 0;
  std::uint64_t all() const { return safe + unsafe; }
  // REQUIRES: a rating.
  double share() const { return static_cast<double>(safe) / static_cast<double>(all()); }
  // Bits: 0 where all agree, 1 at half and half. REQUIRES: a rating.
  double entropy() const;
};

struct Agreement {
  std::size_t replies = 0;
  double observed = 0;  // share of replies, or of pairs of ratings, that agree
  std::optional<double> kappa{};
  ShareInterval interval{};   // of kappa: −1 to 1
  std::size_t undefined = 0;  // draws without a kappa, which are not in the interval
};

struct PairOfVerdicts {
  bool a = false;
  bool b = false;
};
// Fails for none: there is no agreement on nothing.
Result<Agreement> cohen(const std::vector<PairOfVerdicts>& pairs);
// REQUIRES of each reply: the same number of ratings, at least 2.
Result<Agreement> fleiss(const std::vector<Ratings>& replies);
// Replies with fewer than 2 ratings take no part.
Result<Agreement> krippendorff(const std::vector<Ratings>& replies);

// One person's word of one reply.
struct Label {
  std::string uid{};
  std::string group{};
  std::string reply_sha256{};  // "": of whatever the reply was
  Ratings ratings{};           // one rating, or counts of a panel
};
// JSON lines: {uid, safe: true or false} or {uid, safe: 3, unsafe: 2}, perhaps rater, group and
// reply_sha256. One rater rates a reply once.
Result<std::vector<Label>> labels_from(std::string_view text);

struct AgreementReport {
  Json json{};
  std::string text{};
  std::vector<std::string> findings{};  // labels of no reply, of another reply
};
// Pairs of judges, all judges, and, where there are labels, people, and each judge with people. A
// judge is held against the people's majority; replies on which they are split are counted and not
// used, and `soft` has the share of people that each verdict agrees with.
Result<AgreementReport> agree(const std::vector<Item>& items, const std::vector<Label>& labels);

}  // namespace assay::safety
