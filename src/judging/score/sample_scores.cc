#include "score/sample_scores.h"

#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::score {
namespace {

Result<SampleScores> read_head(const Json& head) {
  SampleScores out{.dataset = std::string(head["dataset"].as_string()),
                   .dataset_sha256 = std::string(head["dataset_sha256"].as_string()),
                   .scorer = std::string(head["scorer"].as_string()),
                   .extractor = std::string(head["extractor"].as_string()),
                   .ground_truth = std::string(head["ground_truth"].as_string()),
                   .figure = std::string(head["figure"].as_string())};
  const auto kind = figure_kind_from(head["kind"].as_string());
  if (out.figure.empty() || !kind) return invalid("must have a figure and its kind");
  if (!head["samples"].is_integer() || head["samples"].as_int(-1) < 0) {
    return invalid("samples: must be how many lines follow");
  }
  out.tally.kind = *kind;
  out.tally.scale = head["scale"].as_double(0);
  if (!(out.tally.scale > 0)) return invalid("scale: must be above 0");
  out.tally.lower_is_better = head["lower_is_better"].as_bool();
  return out;
}

Result<void> read_sample(const Json& line, Tally& tally) {
  const auto items = line.items();
  const bool numbers = line.is_array() && line.size() == 3 && items[0].is_integer() &&
                       items[1].is_number() && items[2].is_number();
  if (!numbers) return invalid("must be [sample, amount, of]");
  const std::int64_t sample = items[0].as_int(-1);
  if (sample < 0 || sample > std::numeric_limits<std::uint32_t>::max()) {
    return invalid("sample: must be a row of the dataset");
  }
  const Share share{items[1].as_double(), items[2].as_double()};
  if (!std::isfinite(share.amount) || !std::isfinite(share.of) || share.of < 0) {
    return invalid("amount and of: must be finite, and of not below 0");
  }
  if (!tally.samples.emplace(static_cast<std::uint32_t>(sample), share).second) {
    return invalid(format("sample {} is there twice", sample));
  }
  return {};
}

}  // namespace

std::string sample_scores_text(const std::vector<SampleScores>& figures) {
  std::string out;
  for (const SampleScores& one : figures) {
    out += Json()
               .set("dataset", one.dataset)
               .set("dataset_sha256", one.dataset_sha256)
               .set("scorer", one.scorer)
               .set("extractor", one.extractor)
               .set("ground_truth", one.ground_truth)
               .set("figure", one.figure)
               .set("kind", to_string(one.tally.kind))
               .set("scale", one.tally.scale)
               .set("lower_is_better", one.tally.lower_is_better)
               .set("samples", one.tally.samples.size())
               .dump() +
           '\n';
    for (const auto& [sample, share] : one.tally.samples) {
      out += Json::array().push_back(sample).push_back(share.amount).push_back(share.of).dump();
      out += '\n';
    }
  }
  return out;
}

Result<std::vector<SampleScores>> read_sample_scores(std::string_view text) {
  std::vector<SampleScores> out;
  std::set<std::tuple<std::string, std::string>> seen;
  std::int64_t left = 0;  // lines of the figure that are still to come
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto place = [&] { return format("line {}", number); };
    const auto json = Json::parse(line);
    if (!json) return json.error().within(place());
    if (left > 0) {
      if (const auto read = read_sample(*json, out.back().tally); !read) {
        return read.error().within(place());
      }
      --left;
      continue;
    }
    auto head = read_head(*json);
    if (!head) return head.error().within(place());
    if (!seen.emplace(head->dataset, head->figure).second) {
      return invalid(
          format("{}: figure '{}' of '{}' is there twice", place(), head->figure, head->dataset));
    }
    left = (*json)["samples"].as_int();
    out.push_back(*std::move(head));
  }
  if (left > 0) return invalid(format("ends {} samples early", left));
  return out;
}

}  // namespace assay::score
