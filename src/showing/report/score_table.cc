#include "report/score_table.h"

#include "base/format.h"

namespace assay::report {
namespace {

std::string score_words(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_integer()) return value.dump();
  if (value.is_number()) return format("{:.6g}", value.as_double());
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

std::string replies_words(const Json& counts) {
  if (!counts.is_object()) return {};
  std::string out = format("{} of {} scored", counts["scored"].as_int(), counts["issued"].as_int());
  for (const char* kind : {"empty", "missing"}) {
    if (counts[kind].as_int() > 0) out += format(", {} {}", counts[kind].as_int(), kind);
  }
  return out;
}

// Rows of one dataset.
class EntryRows {
 public:
  EntryRows(const Json& entry, ScoreTable& out)
      : entry_(entry), name_(entry["dataset_name"].as_string()), out_(out) {}

  void add_all() {
    const Json& score = entry_["score"];
    if (score.is_object()) {
      for (const auto& [name, value] : score.members()) add(name, name, value, false);
    } else {
      add("score", "score", score, false);
    }
    const Json& breakdown = entry_["breakdown"];
    const std::string whole = "normalized_single_turn_score";  // of BFCL
    if (const Json* const mean = breakdown.find(whole)) add(whole, whole, *mean, true);
    for (const auto& [name, value] : breakdown["category_scores"].members()) {
      add("category_scores." + name, name, value, true);
    }
    for (const auto& [name, value] : breakdown["subset_scores"].members()) {
      const std::string key = "subset_scores." + name;
      if (value.is_object()) {
        for (const auto& [figure, of] : value.members()) {
          add(key + "." + figure, name + ", " + figure, of, true);
        }
      } else {
        add(key, name, value, true);
      }
    }
    note(entry_["note"]);
    note(entry_["error"]);
    if (!entry_["complete"].as_bool()) note(Json("incomplete"));
  }

 private:
  void add(const std::string& key, const std::string& figure, const Json& value, bool part) {
    ScoreRow row{.dataset = name_, .figure = figure, .score = score_words(value), .part = part};
    const Json& sure = entry_["uncertainty"][key];
    if (const Json& interval = sure["interval"]; interval.size() == 2) {
      row.interval =
          format("{:.4g} to {:.4g} ({:g} %, {})", interval[0].as_double(), interval[1].as_double(),
                 100 * sure["confidence"].as_double(), sure["method"].as_string());
      row.samples = sure["samples"].dump();
    }
    if (first_) row.replies = replies_words(entry_["response_counts"]);
    first_ = false;
    out_.scores.push_back(std::move(row));
  }

  void note(const Json& text) {
    if (text.is_string()) out_.notes.push_back(format("{}: {}", name_, text.as_string()));
  }

  const Json& entry_;
  std::string name_;
  ScoreTable& out_;
  bool first_ = true;
};

std::string demand_words(const Json& item) {
  std::string out;
  for (const auto& [key, word] :
       {std::pair{"at_least", "at least"}, std::pair{"at_most", "at most"}}) {
    if (!item[key].is_number()) continue;
    out += format("{}{} {}", out.empty() ? "" : ", ", word, score_words(item[key]));
  }
  return out.empty() ? "reported" : out;
}

}  // namespace

ScoreTable score_table(const Json& accuracy) {
  ScoreTable out;
  for (const Json& entry : accuracy["accuracy_scores"].items()) EntryRows(entry, out).add_all();
  const Json& gate = accuracy["quality"];
  if (!gate.is_object()) return out;
  out.demanded_by =
      format("What {} demands ({})", gate["workload"].as_string(), gate["edition"].as_string());
  for (const Json& item : gate["items"].items()) {
    const bool measured = item["verdict"].as_string() != "not_measured";
    out.demands.push_back(
        {.metric = std::string(item["metric"].as_string()),
         .value = score_words(item["value"]),
         .demand = demand_words(item),
         .verdict = measured ? std::string(item["verdict"].as_string()) : "not measured"});
  }
  for (const Json& note : gate["notes"].items()) out.notes.emplace_back(note.as_string());
  return out;
}

}  // namespace assay::report
