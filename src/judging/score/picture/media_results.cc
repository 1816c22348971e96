#include "score/picture/media_results.h"

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::score {
namespace {

constexpr std::array<std::string_view, 6> kDimensions = {
    "subject_consistency", "background_consistency", "motion_smoothness",
    "dynamic_degree",      "appearance_style",       "scene"};

// A number, or a text that is one: the original writes its figures as texts.
std::optional<double> figure_number(const Json& value) {
  std::optional<double> out;
  if (value.is_number()) out = value.as_double();
  if (value.is_string()) {
    if (const auto parsed = parse_double(value.as_string())) out = *parsed;
  }
  return out && std::isfinite(*out) ? out : std::nullopt;
}

Result<Verdict> sdxl_verdict(const Json& said) {
  Verdict verdict;
  for (const auto& [theirs, ours] :
       {std::pair{"CLIP_SCORE", "clip_score"}, std::pair{"FID_SCORE", "fid_score"}}) {
    const auto value = figure_number(said[said.find(theirs) != nullptr ? theirs : ours]);
    if (!value) return invalid(format("{}: is missing, or is not a number", theirs));
    verdict.score.set(ours, *value);
  }
  return verdict;
}

// The videos' own values. VBench marks whether a video moves as true or false.
Tally videos_of(const Json& list) {
  Tally out{.kind = FigureKind::mean};
  std::uint32_t video = 0;
  for (const Json& one : list.items()) {
    const Json& value = one["video_results"];
    const auto number =
        value.is_bool() ? std::optional(value.as_bool() ? 1.0 : 0.0) : figure_number(value);
    if (!number) return {};
    out.add(video++, *number);
  }
  return out;
}

Result<Verdict> vbench_verdict(const Json& said) {
  Verdict verdict;
  if (const auto whole = figure_number(said["vbench_score"])) {
    verdict.score.set("vbench_score", *whole);
    return verdict;
  }
  double sum = 0;
  std::string missing;
  Json dimensions = Json::object();
  std::vector<ScoreFigure> figures;
  for (const std::string_view name : kDimensions) {
    const Json& entry = said[name];
    const auto value = figure_number(entry.is_array() ? entry[0] : entry);
    if (!value) {
      missing += (missing.empty() ? "" : ", ") + std::string(name);
      continue;
    }
    sum += *value;
    dimensions.set(name, *value);
    Tally videos = videos_of(entry[1]);
    // Some dimensions are no plain mean of their videos.
    if (videos.samples.size() > 1 && std::abs(videos.value() - *value) < 1e-6) {
      figures.push_back(
          {.name = "dimensions." + std::string(name), .uncertainty = uncertainty_of(videos)});
    }
  }
  if (!missing.empty()) {
    return invalid(format("VBench's dimensions are missing, or are not numbers: {}", missing));
  }
  verdict.score.set("vbench_score", 100 * sum / static_cast<double>(kDimensions.size()));
  verdict.breakdown.set("dimensions", std::move(dimensions));
  verdict.figures = std::move(figures);
  return verdict;
}

// What the suite's program of RAG's questions says: the judge's share of right answers, and how
// much of what should be found was retrieved. The means are formed here again from the questions.
Result<Verdict> rag_verdict(const Json& said) {
  Tally right{.scale = 100};
  std::array<Tally, 3> retrieved{};
  constexpr std::array<std::string_view, 3> kNames = {"retrieval_precision", "retrieval_recall",
                                                      "retrieval_f1"};
  std::uint32_t question = 0;
  for (const Json& one : said["detailed_results"].items()) {
    const auto correct = figure_number(one["answer_correct"]);
    if (!correct || (*correct != 0 && *correct != 1)) {
      return invalid(format("detailed_results[{}].answer_correct: must be 0 or 1", question));
    }
    right.add(question, *correct);
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      retrieved[i].kind = FigureKind::mean;
      retrieved[i].add(question, figure_number(one[kNames[i]]).value_or(0));
    }
    ++question;
  }
  Verdict verdict;
  if (question == 0) {
    const auto share = figure_number(said["answer_accuracy"]);
    if (!share) return invalid("answer_accuracy: is missing, or is not a number");
    verdict.score.set("rag_accuracy", 100 * *share);
    return verdict;
  }
  verdict.score.set("rag_accuracy", right.value());
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    verdict.score.set(kNames[i], retrieved[i].value());
    verdict.figures.push_back(figure_of(std::string(kNames[i]), std::move(retrieved[i])));
  }
  verdict.figures.push_back(figure_of("rag_accuracy", std::move(right)));
  return verdict;
}

// "Accuracy: 34.1000", the line of RAG's accuracy.txt.
std::optional<Json> rag_line(std::string_view line) {
  constexpr std::string_view kWord = "Accuracy:";
  if (!line.starts_with(kWord)) return {};
  const auto percent = parse_double(trim(line.substr(kWord.size())));
  if (!percent) return {};
  return Json().set("answer_accuracy", *percent / 100);
}

// Python's spelling of an object of figures: single quotes.
std::optional<Json> python_object(std::string_view line) {
  const std::size_t from = line.find('{');
  const std::size_t to = line.rfind('}');
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) return {};
  std::string text(line.substr(from, to - from + 1));
  for (char& c : text) c = c == '\'' ? '"' : c;
  auto json = Json::parse(text);
  if (!json || !json->is_object()) return {};
  return *std::move(json);
}

}  // namespace

bool reads_media_results(std::string_view scorer) {
  return scorer == "sdxl" || scorer == "vbench" || scorer == "rag_qna";
}

Result<Verdict> media_verdict(std::string_view scorer, const Json& said) {
  if (scorer == "rag_qna") return rag_verdict(said);
  return scorer == "sdxl" ? sdxl_verdict(said) : vbench_verdict(said);
}

Result<Verdict> read_media_results(std::string_view scorer, std::string_view text) {
  const auto whole = Json::parse(text);
  if (whole && whole->is_object()) return media_verdict(scorer, *whole);
  Result<Verdict> last = invalid(format("no line has the figures of {}", scorer));
  for (const std::string_view line : split(text, '\n')) {
    const auto object = scorer == "rag_qna" ? rag_line(line) : python_object(line);
    if (!object) continue;
    auto read = media_verdict(scorer, *object);
    if (read || !last) last = std::move(read);
  }
  return last;
}

}  // namespace assay::score
