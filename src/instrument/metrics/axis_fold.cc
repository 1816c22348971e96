#include "metrics/axis_fold.h"

#include "base/format.h"
#include "base/text.h"
#include "metrics/class_fold.h"

namespace assay::metrics {
namespace {

Json cost_json(const TokenCost& cost) {
  const auto per = cost.per_character();
  return Json()
      .set("tokens", cost.tokens)
      .set("characters", cost.characters)
      .set("tokens_per_character", per ? Json(*per) : Json());
}

std::string cost_text(std::string_view of, const TokenCost& cost) {
  const auto per = cost.per_character();
  return per ? format("; {} tokens a character of {}", three_digits(*per), of) : std::string();
}

}  // namespace

std::optional<double> TokenCost::per_character() const {
  if (characters == 0) return std::nullopt;
  return static_cast<double>(tokens) / static_cast<double>(characters);
}

AxisFold::AxisFold(const RunInfo& info, RowAxes axes)
    : ReplyFold(info, true), axes_(std::move(axes)) {
  for (const RowAxis& axis : axes_.axes) {
    std::vector<Open>& values = open_.emplace_back(axis.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i].figures.axis = axis.name;
      values[i].figures.value = axis.values[i];
    }
  }
}

void AxisFold::on_reply(const Reply& reply) {
  const std::uint32_t row = reply.event.query.sample;
  if (row >= axes_.characters.size()) return;
  scratch_.clear();
  kAssayDefinition.measure(reply, scratch_);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    add(reply, axes_.characters[row], open_[i][axes_.axes[i].rows[row]]);
  }
}

void AxisFold::add(const Reply& reply, std::uint32_t characters, Open& open) const {
  AxisFigures& out = open.figures;
  ++out.ended;
  if (!scratch_.success) return;
  ++out.succeeded;
  const bool counted = reply.counted != nullptr && reply.counted->input > 0;
  const std::int64_t asked =
      counted ? reply.counted->input : std::int64_t{reply.event.usage.prompt_tokens};
  if (asked > 0 && characters > 0) {
    out.prompts.tokens += asked;
    out.prompts.characters += characters;
  }
  if (scratch_.tokens && *scratch_.tokens > 0 && !reply.text.empty()) {
    out.replies.tokens += *scratch_.tokens;
    out.replies.characters += characters_in(reply.text);
  }
  if (scratch_.ttft) open.ttft.add(static_cast<std::int64_t>(*scratch_.ttft));
  if (scratch_.latency) open.latency.add(static_cast<std::int64_t>(*scratch_.latency));
  if (scratch_.tpot) open.tpot.add(*scratch_.tpot);
  for (const double tpot : scratch_.more_tpot) open.tpot.add(tpot);
}

AxisReport AxisFold::finish() {
  AxisReport out;
  for (std::vector<Open>& values : open_) {
    for (Open& open : values) {
      open.figures.ttft = open.ttft.finish(false);
      open.figures.tpot = open.tpot.finish(false);
      open.figures.latency = open.latency.finish(false);
      out.push_back(std::move(open.figures));
    }
  }
  open_.clear();
  return out;
}

Json to_json(const AxisReport& report) {
  Json out = Json::array();
  for (const AxisFigures& one : report) {
    out.push_back(Json()
                      .set("axis", one.axis)
                      .set("value", one.value)
                      .set("ended", one.ended)
                      .set("succeeded", one.succeeded)
                      .set("failed", one.ended - one.succeeded)
                      .set("prompts", cost_json(one.prompts))
                      .set("replies", cost_json(one.replies))
                      .set("ttft", series_json(one.ttft))
                      .set("tpot", series_json(one.tpot))
                      .set("latency", series_json(one.latency)));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> axis_lines(const AxisReport& report) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const AxisFigures& one : report) {
    std::string text = format("{}: {} queries", one.value, count_text(one.ended));
    if (one.succeeded < one.ended) {
      text += format(", {} failed", count_text(one.ended - one.succeeded));
    }
    text += series_text("TTFT", one.ttft) + series_text("TPOT", one.tpot);
    text += series_text("latency", one.latency);
    text += cost_text("the prompt", one.prompts) + cost_text("the reply", one.replies);
    out.emplace_back(one.axis, std::move(text));
  }
  return out;
}

}  // namespace assay::metrics
