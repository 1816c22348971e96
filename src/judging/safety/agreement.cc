#include "safety/agreement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/rng.h"
#include "base/text.h"

namespace assay::safety {
namespace {

constexpr std::size_t kAgreementDraws = 1000;
constexpr std::uint64_t kAgreementSeed = 0xa93ee;

std::optional<double> chance_corrected(double observed, double expected) {
  if (expected >= 1) return std::nullopt;
  return (observed - expected) / (1 - expected);
}

// One figure of the replies with these indices.
struct Figure {
  double observed = 0;
  std::optional<double> kappa{};
};
using FigureOf = std::function<Figure(const std::vector<std::size_t>&)>;

Agreement resampled(std::size_t replies, const FigureOf& figure_of) {
  std::vector<std::size_t> chosen(replies);
  for (std::size_t i = 0; i < replies; ++i) chosen[i] = i;
  const Figure whole = figure_of(chosen);
  Agreement out{.replies = replies, .observed = whole.observed, .kappa = whole.kappa};
  Rng rng(kAgreementSeed);
  std::vector<double> drawn;
  for (std::size_t draw = 0; draw < kAgreementDraws; ++draw) {
    for (std::size_t& one : chosen) one = rng.below(replies);
    if (const auto kappa = figure_of(chosen).kappa) drawn.push_back(*kappa);
  }
  out.undefined = kAgreementDraws - drawn.size();
  out.interval = {.low = -1, .high = 1};
  if (drawn.empty()) return out;
  std::ranges::sort(drawn);
  const std::size_t cut = drawn.size() / 40;
  out.interval = {.low = drawn[cut], .high = drawn[drawn.size() - 1 - cut]};
  return out;
}

Error no_replies() { return invalid("no reply was rated by both"); }

Figure cohen_of(const std::vector<PairOfVerdicts>& pairs, const std::vector<std::size_t>& chosen) {
  double agree = 0;
  double a = 0;
  double b = 0;
  for (const std::size_t i : chosen) {
    agree += pairs[i].a == pairs[i].b ? 1 : 0;
    a += pairs[i].a ? 1 : 0;
    b += pairs[i].b ? 1 : 0;
  }
  const double n = static_cast<double>(chosen.size());
  const double expected = a / n * b / n + (1 - a / n) * (1 - b / n);
  return {.observed = agree / n, .kappa = chance_corrected(agree / n, expected)};
}

double agreeing_pairs(const Ratings& one) {
  const double safe = static_cast<double>(one.safe);
  const double unsafe = static_cast<double>(one.unsafe);
  return safe * (safe - 1) + unsafe * (unsafe - 1);
}

Figure fleiss_of(const std::vector<Ratings>& replies, const std::vector<std::size_t>& chosen) {
  double observed = 0;
  double safe = 0;
  double all = 0;
  for (const std::size_t i : chosen) {
    const double n = static_cast<double>(replies[i].all());
    observed += agreeing_pairs(replies[i]) / (n * (n - 1));
    safe += static_cast<double>(replies[i].safe);
    all += n;
  }
  observed /= static_cast<double>(chosen.size());
  const double p = safe / all;
  return {.observed = observed, .kappa = chance_corrected(observed, p * p + (1 - p) * (1 - p))};
}

// alpha = 1 − D_o ÷ D_e with nominal distances, by the coincidence matrix.
Figure krippendorff_of(const std::vector<Ratings>& replies,
                       const std::vector<std::size_t>& chosen) {
  double differ = 0;
  double agree = 0;
  double safe = 0;
  double unsafe = 0;
  for (const std::size_t i : chosen) {
    const double n = static_cast<double>(replies[i].all());
    const double s = static_cast<double>(replies[i].safe);
    differ += 2 * s * (n - s) / (n - 1);
    agree += agreeing_pairs(replies[i]) / (n - 1);
    safe += s;
    unsafe += n - s;
  }
  const double all = safe + unsafe;
  const double by_chance = 2 * safe * unsafe / (all - 1);
  Figure out{.observed = agree / all};
  if (by_chance > 0) out.kappa = 1 - differ / by_chance;
  return out;
}

Json agreement_json(const Result<Agreement>& found) {
  if (!found) return Json();
  Json out = Json()
                 .set("replies", found->replies)
                 .set("observed", found->observed)
                 .set("kappa", found->kappa ? Json(*found->kappa) : Json());
  if (!found->kappa) return out;
  return out
      .set("interval", Json::array().push_back(found->interval.low).push_back(found->interval.high))
      .set("draws_without", found->undefined);
}

std::string agreement_text(std::string_view name, const Result<Agreement>& found) {
  if (!found) return format("{}: {}\n", name, found.error().message);
  if (!found->kappa) {
    return format("{}: {:.2f} % of {} agree; no kappa, because one word alone was used\n", name,
                  100 * found->observed, found->replies);
  }
  return format("{}: {:.3f} (95 % {:.3f} to {:.3f}), {:.2f} % of {} agree\n", name, *found->kappa,
                found->interval.low, found->interval.high, 100 * found->observed, found->replies);
}

}  // namespace

double Ratings::entropy() const {
  const double p = share();
  if (p <= 0 || p >= 1) return 0;
  return -p * std::log2(p) - (1 - p) * std::log2(1 - p);
}

Result<Agreement> cohen(const std::vector<PairOfVerdicts>& pairs) {
  if (pairs.empty()) return no_replies();
  return resampled(pairs.size(), [&pairs](const auto& chosen) { return cohen_of(pairs, chosen); });
}

Result<Agreement> fleiss(const std::vector<Ratings>& replies) {
  if (replies.empty()) return no_replies();
  for (const Ratings& one : replies) CHECK(one.all() >= 2 && one.all() == replies.front().all());
  return resampled(replies.size(),
                   [&replies](const auto& chosen) { return fleiss_of(replies, chosen); });
}

Result<Agreement> krippendorff(const std::vector<Ratings>& replies) {
  std::vector<Ratings> paired;
  for (const Ratings& one : replies) {
    if (one.all() >= 2) paired.push_back(one);
  }
  if (paired.empty()) return invalid("no reply was rated by two");
  return resampled(paired.size(),
                   [&paired](const auto& chosen) { return krippendorff_of(paired, chosen); });
}

namespace {

Result<Label> label_from(const Json& json) {
  const auto text = [&json](std::string_view key) { return std::string(json[key].as_string()); };
  Label out{.uid = json["uid"].is_string() ? text("uid") : text("prompt_uid"),
            .group = text("group"),
            .reply_sha256 = text("reply_sha256")};
  if (out.uid.empty()) return invalid("no \"uid\"");
  const Json& safe = json["safe"];
  if (safe.is_bool()) {
    ++(safe.as_bool() ? out.ratings.safe : out.ratings.unsafe);
    return out;
  }
  constexpr std::int64_t kRatersMax = 1'000'000;
  const std::int64_t counts[] = {safe.as_int(-1), json["unsafe"].as_int(-1)};
  if (std::ranges::any_of(counts, [](std::int64_t n) { return n < 0 || n > kRatersMax; }) ||
      counts[0] + counts[1] == 0) {
    return invalid("\"safe\": expected true or false, or how many said so beside \"unsafe\"");
  }
  out.ratings = {.safe = static_cast<std::uint64_t>(counts[0]),
                 .unsafe = static_cast<std::uint64_t>(counts[1])};
  return out;
}

}  // namespace

Result<std::vector<Label>> labels_from(std::string_view text) {
  std::vector<Label> out;
  std::set<std::pair<std::string, std::string>> seen;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    auto label = label_from(*json);
    if (!label) return label.error().within(format("line {}", number));
    const std::string rater((*json)["rater"].as_string());
    if (!rater.empty() && !seen.emplace(rater, label->uid).second) {
      return invalid(
          format("line {}: rater '{}' has rated '{}' already", number, rater, label->uid));
    }
    out.push_back(*std::move(label));
  }
  return out;
}

namespace {

// What people said of one item: all of them, and each group.
struct PeopleOf {
  const Item* item = nullptr;
  Ratings all{};
  std::map<std::string, Ratings> groups{};
};

void add(Ratings& to, const Ratings& from) {
  to.safe += from.safe;
  to.unsafe += from.unsafe;
}

Json ratings_json(const Ratings& one) {
  return Json()
      .set("safe", one.safe)
      .set("unsafe", one.unsafe)
      .set("share", one.share())
      .set("entropy", one.entropy());
}

// Sums over replies: each counts once, however many people rated it.
struct Spread {
  std::size_t replies = 0;
  std::size_t disputed = 0;
  double share = 0;
  double entropy = 0;
  void add(const Ratings& one) {
    ++replies;
    disputed += one.safe > 0 && one.unsafe > 0 ? 1 : 0;
    share += one.share();
    entropy += one.entropy();
  }
  Json json(std::string_view axis, const std::string& value) const {
    const double n = static_cast<double>(replies);
    return Json()
        .set(axis, value)
        .set("replies", replies)
        .set("disputed", disputed)
        .set("safe_share", share / n)
        .set("entropy", entropy / n);
  }
};

class Agreeing {
 public:
  explicit Agreeing(const std::vector<Item>& items) : items_(items) {
    for (const Item& item : items) {
      by_uid_.emplace(item.uid, &item);
      for (const Vote& vote : item.votes) judges_.insert(vote.judge);
    }
  }

  void judges() {
    Json pairs = Json::array();
    for (auto a = judges_.begin(); a != judges_.end(); ++a) {
      for (auto b = std::next(a); b != judges_.end(); ++b) {
        const auto found = cohen(pairs_of(*a, *b));
        pairs.push_back(Json().set("a", *a).set("b", *b).set("cohen", agreement_json(found)));
        text_ += agreement_text(format("kappa of judges {} and {}", *a, *b), found);
      }
    }
    json_.set("judges", std::move(pairs));
    if (judges_.size() < 3) return;
    const auto found = fleiss(panels());
    json_.set("judges_fleiss", agreement_json(found));
    text_ += agreement_text("Fleiss' kappa of all judges", found);
  }

  void people(const std::vector<Label>& labels) {
    gather(labels);
    if (people_.empty()) return;
    spread();
    std::vector<Ratings> ratings;
    std::set<std::uint64_t> sizes;
    for (const auto& [uid, one] : people_) {
      ratings.push_back(one.all);
      sizes.insert(one.all.all());
    }
    const auto alpha = krippendorff(ratings);
    json_.set("people_alpha", agreement_json(alpha));
    text_ += agreement_text("Krippendorff's alpha of people", alpha);
    if (sizes.size() == 1 && *sizes.begin() >= 2) {
      const auto kappa = fleiss(ratings);
      json_.set("people_fleiss", agreement_json(kappa));
      text_ += agreement_text("Fleiss' kappa of people", kappa);
    }
    Json rows = Json::array();
    for (const std::string& judge : judges_) rows.push_back(against(judge));
    rows.push_back(against(""));
    json_.set("with_people", std::move(rows));
  }

  AgreementReport take() {
    Json list = Json::array();
    for (const std::string& one : findings_) {
      list.push_back(one);
      text_ += "finding: " + one + "\n";
    }
    json_.set("findings", std::move(list));
    if (text_.empty()) text_ = "one judge and no labels: nothing to agree\n";
    return {.json = std::move(json_), .text = std::move(text_), .findings = std::move(findings_)};
  }

 private:
  static const Vote* vote_of(const Item& item, const std::string& judge) {
    const auto found = std::ranges::find(item.votes, judge, &Vote::judge);
    return found == item.votes.end() || !found->valid ? nullptr : &*found;
  }

  std::vector<PairOfVerdicts> pairs_of(const std::string& a, const std::string& b) const {
    std::vector<PairOfVerdicts> out;
    for (const Item& item : items_) {
      const Vote* const one = vote_of(item, a);
      const Vote* const other = vote_of(item, b);
      if (one != nullptr && other != nullptr) out.push_back({one->safe, other->safe});
    }
    return out;
  }

  // Replies of which every judge has a valid vote.
  std::vector<Ratings> panels() const {
    std::vector<Ratings> out;
    for (const Item& item : items_) {
      Ratings one;
      for (const Vote& vote : item.votes) {
        if (vote.valid) ++(vote.safe ? one.safe : one.unsafe);
      }
      if (one.all() == judges_.size()) out.push_back(one);
    }
    return out;
  }

  void gather(const std::vector<Label>& labels) {
    std::size_t unknown = 0;
    std::size_t other = 0;
    for (const Label& label : labels) {
      const auto found = by_uid_.find(label.uid);
      if (found == by_uid_.end()) {
        ++unknown;
      } else if (!label.reply_sha256.empty() && label.reply_sha256 != found->second->reply_sha256) {
        ++other;
      } else {
        PeopleOf& one = people_[label.uid];
        one.item = found->second;
        add(one.all, label.ratings);
        if (!label.group.empty()) add(one.groups[label.group], label.ratings);
      }
    }
    if (unknown > 0) findings_.push_back(format("{} labels belong to no item", unknown));
    if (other > 0) findings_.push_back(format("{} labels belong to another reply", other));
  }

  void spread() {
    std::map<std::pair<std::string, std::string>, Spread> axes;
    Json rows = Json::array();
    for (const auto& [uid, one] : people_) {
      Json row = ratings_json(one.all).set("uid", uid);
      Json groups = Json::object();
      axes[{"people", "all"}].add(one.all);
      axes[{"hazard", one.item->hazard}].add(one.all);
      if (!one.item->locale.empty()) axes[{"locale", one.item->locale}].add(one.all);
      for (const auto& [group, ratings] : one.groups) {
        axes[{"group", group}].add(ratings);
        groups.set(group, ratings_json(ratings));
      }
      if (groups.size() > 0) row.set("groups", std::move(groups));
      rows.push_back(std::move(row));
    }
    Json spreads = Json::array();
    for (const auto& [key, one] : axes) {
      spreads.push_back(one.json(key.first, key.second));
      text_ += format("{} {}: {:.2f} % say safe, {} of {} replies disputed, {:.3f} bits\n",
                      key.first, key.second, 100 * one.share / static_cast<double>(one.replies),
                      one.disputed, one.replies, one.entropy / static_cast<double>(one.replies));
    }
    json_.set("distributions", std::move(rows)).set("spread", std::move(spreads));
  }

  // A judge, or "" the joint verdict, against the majority of people.
  Json against(const std::string& judge) {
    std::vector<PairOfVerdicts> pairs;
    std::size_t split_even = 0;
    double soft = 0;
    std::size_t voted = 0;
    for (const auto& [uid, one] : people_) {
      const Vote* const vote = judge.empty() ? nullptr : vote_of(*one.item, judge);
      if (judge.empty() ? !one.item->verdict.valid : vote == nullptr) continue;
      const bool safe = judge.empty() ? one.item->verdict.safe : vote->safe;
      ++voted;
      soft += safe ? one.all.share() : 1 - one.all.share();
      if (one.all.safe == one.all.unsafe) {
        ++split_even;
      } else {
        pairs.push_back({safe, one.all.safe > one.all.unsafe});
      }
    }
    const auto found = cohen(pairs);
    const std::string name = judge.empty() ? "the joint verdict" : "judge " + judge;
    text_ += agreement_text(format("kappa of {} with the majority of people", name), found);
    Json out = Json()
                   .set("judge", judge.empty() ? Json() : Json(judge))
                   .set("cohen", agreement_json(found))
                   .set("split_evenly", split_even)
                   .set("soft", voted == 0 ? Json() : Json(soft / static_cast<double>(voted)));
    return quality(pairs, std::move(out));
  }

  // With "unsafe" as what a judge is to find.
  static Json quality(const std::vector<PairOfVerdicts>& pairs, Json out) {
    const auto share = [&pairs](bool of) {
      std::uint64_t right = 0;
      std::uint64_t all = 0;
      for (const PairOfVerdicts& one : pairs) {
        if (one.b != of) continue;
        ++all;
        right += one.a == of ? 1 : 0;
      }
      if (all == 0) return Json();
      const ShareInterval interval = exact_interval(right, all);
      return Json()
          .set("share", static_cast<double>(right) / static_cast<double>(all))
          .set("of", all)
          .set("interval", Json::array().push_back(interval.low).push_back(interval.high));
    };
    return out.set("sensitivity", share(false)).set("specificity", share(true));
  }

  const std::vector<Item>& items_;
  std::map<std::string, const Item*> by_uid_{};
  std::set<std::string> judges_{};
  std::map<std::string, PeopleOf> people_{};
  Json json_ = Json::object();
  std::string text_{};
  std::vector<std::string> findings_{};
};

}  // namespace

Result<AgreementReport> agree(const std::vector<Item>& items, const std::vector<Label>& labels) {
  Agreeing agreeing(items);
  agreeing.judges();
  agreeing.people(labels);
  return agreeing.take();
}

}  // namespace assay::safety
