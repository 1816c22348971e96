#include "score/score_file.h"

#include <functional>
#include <string_view>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "score/picture/coco_map.h"
#include "score/picture/media_results.h"
#include "score/recommend/recommendation.h"
#include "score/text/rouge.h"

namespace assay::score {
namespace {

Result<void> each_row(const std::filesystem::path& path,
                      const std::function<Result<void>(const Json&, std::size_t)>& use) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  std::size_t number = 0;
  std::size_t row = 0;
  for (const std::string_view line : split(bytes, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto place = [&] { return format("{}:{}", path.string(), number); };
    const auto json = Json::parse(line);
    if (!json) return json.error().within(place());
    if (!json->is_object()) return invalid(place() + ": must be an object");
    if (const auto used = use(*json, row++); !used) return used.error().within(place());
  }
  return {};
}

Result<Json> score_rows(const std::filesystem::path& path, const FileScoring& how) {
  ASSIGN_OR_RETURN(const auto scorer, make_scorer(how.scorer, how.score));
  std::size_t scored = 0;
  std::size_t empty = 0;
  std::size_t missing = 0;
  std::size_t without = 0;  // without a reply in any form
  TRY(each_row(path, [&](const Json& line, std::size_t number) -> Result<void> {
    const Json* const reply = line.find(how.reply_column);
    const bool says = reply != nullptr || line.find("tool_calls") != nullptr ||
                      line.find("reasoning") != nullptr || line.find("tokens") != nullptr;
    without += says ? 0 : 1;
    Row row;
    row.columns = &line;
    row.answered = reply != nullptr && reply->is_string();
    if (row.answered) row.reply = row.content = reply->as_string();
    row.reasoning = line["reasoning"].as_string();
    row.tool_calls = line["tool_calls"];
    row.tokens = line["tokens"].as_int(-1);
    row.sample = static_cast<std::uint32_t>(line["sample"].as_uint(number));
    ++(!row.answered ? missing : row.reply.empty() ? empty : scored);
    auto added = scorer->add(row);
    if (added && how.verdicts != nullptr) {
      *how.verdicts += verdict_record(*scorer, row).dump() + '\n';
    }
    return added;
  }));
  const std::size_t rows = scored + empty + missing;
  if (rows == 0) return invalid(format("'{}' holds no rows to score", path.string()));
  if (without == rows) {
    return invalid(
        format("{}: no row has a column '{}'\n  --reply COLUMN names the one with the "
               "reply",
               path.string(), how.reply_column));
  }
  ASSIGN_OR_RETURN(const Verdict verdict, scorer->finish());
  Json out;
  out.set("scorer", how.scorer).set("score", verdict.score).set("breakdown", verdict.breakdown);
  if (Json spread = uncertainty_json(verdict.figures); !spread.is_null()) {
    out.set("uncertainty", std::move(spread));
  }
  if (!verdict.note.empty()) out.set("note", verdict.note);
  return out.set("scored", scored).set("empty", empty).set("missing", missing);
}

Result<Json> score_coco(const std::filesystem::path& path, const FileScoring& how) {
  const std::string file(how.score.extra["annotations"].as_string());
  if (file.empty()) return invalid("--annotations: coco_map needs COCO's annotations file");
  ASSIGN_OR_RETURN(const auto annotations, read_coco_annotations(file));
  ASSIGN_OR_RETURN(const auto detections, read_coco_results(path));
  const CocoScores scores = coco_scores(annotations.truths, detections);
  Json out = coco_json(scores);
  return out.set("scorer", how.scorer).set("score", scores.ap);
}

std::vector<double> numbers(const Json& json) {
  std::vector<double> out;
  for (const Json& one : json.items()) out.push_back(one.as_double());
  return out;
}

Result<Json> score_predictions(const std::filesystem::path& path, const FileScoring& how) {
  Recommendation all;
  std::vector<double> all_predictions;
  std::vector<double> all_labels;
  TRY(each_row(path, [&](const Json& line, std::size_t) -> Result<void> {
    const auto predictions = numbers(line["predictions"]);
    const auto labels = numbers(line["labels"]);
    auto weights = numbers(line["weights"]);
    if (weights.empty()) weights.assign(predictions.size(), 1.0);
    all_predictions.insert(all_predictions.end(), predictions.begin(), predictions.end());
    all_labels.insert(all_labels.end(), labels.begin(), labels.end());
    return all.add(predictions, labels, weights);
  }));
  if (all_labels.size() != all_predictions.size()) {
    return invalid(format("{}: {} labels, but {} predictions", path.string(), all_labels.size(),
                          all_predictions.size()));
  }
  const RecommendationScores scores = all.scores();
  Json figures;
  figures.set("normalised_entropy", scores.normalised_entropy)
      .set("accuracy", scores.accuracy)
      .set("gauc", scores.gauc)
      .set("auc", roc_auc(all_predictions, all_labels));
  return Json().set("scorer", how.scorer).set("score", std::move(figures));
}

// Every row's own F-measures, not rounded; sentences end at line ends, or where Punkt cuts
// (extras.punkt).
Result<Json> score_rouge_lines(const std::filesystem::path& path, const FileScoring& how) {
  const std::string truth = how.score.ground_truth.empty() ? "highlights" : how.score.ground_truth;
  Rouge rouge(true);
  ASSIGN_OR_RETURN(const Sentences sentences, Sentences::make(how.score.extra));
  const bool cuts = how.score.extra["punkt"].is_string();
  Json lists[4] = {Json::array(), Json::array(), Json::array(), Json::array()};
  TRY(each_row(path, [&](const Json& line, std::size_t) -> Result<void> {
    const std::string_view wanted = line[truth].as_string();
    const std::string_view reply = line[how.reply_column].as_string();
    const RougeScores one =
        cuts ? rouge.score(sentences.lines(trim(wanted)), sentences.lines(trim(reply)))
             : rouge.score(wanted, reply);
    lists[0].push_back(one.rouge1.f);
    lists[1].push_back(one.rouge2.f);
    lists[2].push_back(one.rouge_l.f);
    lists[3].push_back(one.rouge_l_sum.f);
    return {};
  }));
  Json scores;
  scores.set("rouge1", std::move(lists[0]))
      .set("rouge2", std::move(lists[1]))
      .set("rouge_l", std::move(lists[2]))
      .set("rouge_l_sum", std::move(lists[3]));
  return Json().set("scorer", how.scorer).set("score", std::move(scores));
}

// What a suite's own program wrote, when no evaluator is named.
bool holds_media_results(const FileScoring& how) {
  return reads_media_results(how.scorer) && how.score.extra["command"].is_null();
}

Result<Json> score_media(const std::filesystem::path& path, const FileScoring& how) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  const auto verdict = read_media_results(how.scorer, text);
  if (!verdict) return verdict.error().within(path.string());
  Json out = Json().set("scorer", how.scorer).set("score", verdict->score);
  if (!verdict->breakdown.is_null()) out.set("breakdown", verdict->breakdown);
  if (Json spread = uncertainty_json(verdict->figures); !spread.is_null()) {
    out.set("uncertainty", std::move(spread));
  }
  return out;
}

// True if the file's first row has predictions, so the reply is not a payload.
bool holds_predictions(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  if (!bytes) return false;
  const auto first = Json::parse(std::string_view(*bytes).substr(0, bytes->find('\n')));
  return first && first->find("predictions") != nullptr;
}

}  // namespace

Result<Json> score_file(const std::filesystem::path& path, const FileScoring& how) {
  const bool in_rows = how.scorer != "rouge_lines" && !holds_media_results(how) &&
                       !(how.scorer == "coco_map" && path.extension() == ".json") &&
                       !(how.scorer == "dlrm" && holds_predictions(path));
  if (how.verdicts != nullptr && !in_rows) {
    return invalid(format("--verdicts: {} judges no reply of this file by itself", how.scorer));
  }
  if (how.scorer == "rouge_lines") return score_rouge_lines(path, how);
  if (holds_media_results(how)) return score_media(path, how);
  if (how.scorer == "coco_map" && path.extension() == ".json") return score_coco(path, how);
  if (how.scorer == "dlrm" && holds_predictions(path)) return score_predictions(path, how);
  return score_rows(path, how);
}

}  // namespace assay::score
