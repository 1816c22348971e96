#include "campaign/safety/safety_levels.h"

#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"

namespace assay::campaign {
namespace {

constexpr const char* kLevelsFile = "levels.json";
constexpr std::uint32_t kConcurrencyMax = 100'000;

std::filesystem::path level_folder(const std::filesystem::path& folder, std::uint32_t concurrency) {
  return folder / format("c{:04}", concurrency);
}

std::optional<SealKey> seal_key(const SafetyWish& wish) {
  return wish.seal ? std::optional(wish.seal->key) : std::nullopt;
}

Result<SafetyWish> level_wish(const SafetyWish& wish, std::uint32_t concurrency) {
  SafetyWish out = wish;
  out.folder = level_folder(wish.folder, concurrency);
  if (std::filesystem::exists(out.folder / "safety.json")) {
    return open_safety(out.folder, seal_key(wish));
  }
  TRY(begin_safety(out));
  return out;
}

// The speed of the level's first run, in which every prompt was asked.
void read_speed(SafetyLevel& level) {
  const auto summary = read_json_file(level.folder / "answers/01/performance/result_summary.json");
  if (!summary) return;
  level.tps = (*summary)["tps"].as_double();
  const Json& p90 = (*summary)["ttft"]["percentiles"]["90"];
  if (p90.is_number()) level.ttft_p90_ms = p90.as_double() / 1e6;
}

}  // namespace

Result<SafetyLevel> derive_level(const SafetyWish& wish, std::uint32_t concurrency) {
  SafetyLevel out{.concurrency = concurrency, .folder = wish.folder};
  ASSIGN_OR_RETURN(out.items, derive_items(wish));
  ASSIGN_OR_RETURN(out.report, safety::grade_items(wish.standard, out.items));
  for (const safety::Item& item : out.items) {
    out.queries += item.asked;
    const bool answered = item.outcome != safety::ItemOutcome::unanswered;
    out.failed += item.asked - (answered ? 1U : 0U);
  }
  if (wish.attacks) {
    ASSIGN_OR_RETURN(const auto pairs, safety::fold_pairs(*wish.attacks, out.items, {}));
    out.attacked = pairs.all;
  }
  read_speed(out);
  return out;
}

namespace {

std::string grade_word(const SafetyLevel& level) {
  const auto& grade = level.report.overall.grade;
  return grade ? std::string(label_of(*grade)) : "none";
}

void compare_levels(SafetyLevels& out) {
  if (out.levels.empty()) return;
  const SafetyLevel& first = out.levels.front();
  if (!first.report.overall.grade) return;
  for (const SafetyLevel& level : out.levels) {
    if (!level.report.overall.grade || *level.report.overall.grade >= *first.report.overall.grade) {
      continue;
    }
    out.ending.add(
        ExitCode::worse,
        format("the safety grade falls from {} at concurrency {} to {} at {}", grade_word(first),
               first.concurrency, grade_word(level), level.concurrency));
  }
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_levels(const std::string& text) {
  std::vector<std::uint32_t> out;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_uint(trim(part));
    const bool rises = number && *number > (out.empty() ? 0 : out.back());
    if (!rises || *number > kConcurrencyMax) {
      return invalid(format("--levels: '{}': expected numbers that rise, such as 1,8,32", text));
    }
    out.push_back(static_cast<std::uint32_t>(*number));
  }
  if (out.size() < 2) return invalid("--levels: expected two levels or more, such as 1,8,32");
  return out;
}

Result<std::optional<std::vector<std::uint32_t>>> open_levels(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / kLevelsFile)) {
    return std::optional<std::vector<std::uint32_t>>();
  }
  ASSIGN_OR_RETURN(const Json json, read_json_file(folder / kLevelsFile));
  std::vector<std::uint32_t> out;
  for (const Json& one : json["concurrencies"].items()) {
    out.push_back(static_cast<std::uint32_t>(one.as_uint()));
  }
  return std::optional(std::move(out));
}

Result<SafetyLevels> run_safety_levels(const SafetyWish& wish,
                                       const std::vector<std::uint32_t>& levels,
                                       const SafetyAsked& asked, const ClientOptions& client,
                                       run::Control& control) {
  TRY(write_file_atomic(
      wish.folder / kLevelsFile,
      Json().set("format", 1).set("concurrencies", json_list(levels)).dump(2) + "\n"));
  SafetyLevels out;
  for (const std::uint32_t concurrency : levels) {
    ASSIGN_OR_RETURN(const SafetyWish level, level_wish(wish, concurrency));
    SafetyAsked here = asked;
    here.config.settings.load_pattern.type = plan::Pattern::concurrency;
    here.config.settings.load_pattern.target_concurrency = concurrency;
    if (asked.say) asked.say(format("concurrency {}", concurrency));
    ASSIGN_OR_RETURN(const SafetyEnd end, run_safety(level, here, client, control));
    out.ending.add(end.ending);
    if (!end.finished) {
      out.finished = false;
      return out;
    }
    ASSIGN_OR_RETURN(SafetyLevel row, derive_level(level, concurrency));
    out.levels.push_back(std::move(row));
  }
  compare_levels(out);
  TRY(write_file_atomic(wish.folder / "grades.txt", out.text()));
  TRY(write_file_atomic(wish.folder / "grades.json", out.to_json().dump(2) + "\n"));
  return out;
}

Result<SafetyLevels> derive_levels(const SafetyWish& wish, const std::vector<std::uint32_t>& levels,
                                   std::vector<std::string>& differences) {
  SafetyLevels out;
  for (const std::uint32_t concurrency : levels) {
    ASSIGN_OR_RETURN(const SafetyWish level,
                     open_safety(level_folder(wish.folder, concurrency), seal_key(wish)));
    ASSIGN_OR_RETURN(SafetyLevel row, derive_level(level, concurrency));
    ASSIGN_OR_RETURN(row.differences, check_safety(level));
    out.levels.push_back(std::move(row));
  }
  const auto text = read_file(wish.folder / "grades.json");
  if (!text) {
    differences.push_back(text.error().message);
  } else if (*text != out.to_json().dump(2) + "\n") {
    differences.emplace_back("grades.json is not what the levels give");
  }
  return out;
}

Result<std::vector<std::string>> check_levels(const SafetyWish& wish,
                                              const std::vector<std::uint32_t>& levels) {
  std::vector<std::string> out;
  std::vector<std::string> own;
  ASSIGN_OR_RETURN(const SafetyLevels derived, derive_levels(wish, levels, own));
  for (const SafetyLevel& level : derived.levels) {
    for (const std::string& one : level.differences) {
      out.push_back(format("{}: {}", level.folder.filename().string(), one));
    }
  }
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

Json SafetyLevels::to_json() const {
  Json rows = Json::array();
  for (const SafetyLevel& level : levels) {
    const safety::Graded& all = level.report.overall;
    Json row = Json()
                   .set("concurrency", level.concurrency)
                   .set("grade", all.grade ? Json(label_of(*all.grade)) : Json())
                   .set("numeric", all.grade ? Json(static_cast<int>(*all.grade)) : Json())
                   .set("safe_share", all.counts.graded > 0 ? Json(all.counts.share()) : Json())
                   .set("graded", all.counts.graded)
                   .set("unanswered", all.counts.unanswered)
                   .set("queries", level.queries)
                   .set("failed", level.failed)
                   .set("tps", level.tps)
                   .set("ttft_p90_ms", level.ttft_p90_ms > 0 ? Json(level.ttft_p90_ms) : Json())
                   .set("folder", level.folder.filename().string());
    if (all.grade) {
      row.set("interval", Json::array().push_back(all.interval.low).push_back(all.interval.high));
    }
    if (level.attacked && level.attacked->table.pairs() > 0) {
      const safety::PairGroup& pairs = *level.attacked;
      row.set("attack_gap", pairs.table.gap())
          .set("attack_gap_interval",
               Json::array().push_back(pairs.interval.low).push_back(pairs.interval.high))
          .set("attack_pairs", pairs.table.pairs());
    }
    rows.push_back(std::move(row));
  }
  return Json().set("note", safety::kNotOfficial).set("levels", std::move(rows));
}

std::string SafetyLevels::text() const {
  std::string out = format(
      "safety under load ({})\n\n{:>11}  {:<10} {:>10}  {:>17}  {:>10}  {:>10}\n",
      safety::kNotOfficial, "concurrency", "grade", "safe", "failed queries", "tok/s", "TTFT P90");
  for (const SafetyLevel& level : levels) {
    const safety::Counts& counts = level.report.overall.counts;
    const std::string safe = counts.graded == 0 ? "" : format("{:.2f} %", 100 * counts.share());
    out += format("{:>11}  {:<10} {:>10}  {:>17}  {:>10.1f}  {:>10}\n", level.concurrency,
                  grade_word(level), safe, format("{} of {}", level.failed, level.queries),
                  level.tps, level.ttft_p90_ms > 0 ? format("{:.1f} ms", level.ttft_p90_ms) : "");
  }
  for (const SafetyLevel& level : levels) {
    if (!level.attacked || level.attacked->table.pairs() == 0) continue;
    const safety::PairGroup& pairs = *level.attacked;
    out += format("attacks at {}: unsafe {:+.1f} points (95 % {:+.1f} to {:+.1f}), {} pairs\n",
                  level.concurrency, 100 * pairs.table.gap(), 100 * pairs.interval.low,
                  100 * pairs.interval.high, pairs.table.pairs());
  }
  for (const ExitCause& cause : ending.causes()) out += "finding: " + cause.why + "\n";
  return out;
}

}  // namespace assay::campaign
