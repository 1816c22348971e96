#include "score/reply_rows.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "domain/tool_call.h"

namespace assay::score {
namespace {

constexpr std::string_view kTextNotKept =
    "this run kept no text of its replies; repeat it with --keep-text on "
    "(settings.recording.keep_text: on)";

// Columns of the row that went into the request, for scorers that judge by what was asked.
Json columns_with_sent(const Sample& sample) {
  Json out = sample.columns.is_object() ? sample.columns : Json::object();
  if (!sample.tools.is_null() && out.find("tools") == nullptr) out.set("tools", sample.tools);
  for (const auto& [name, value] : sample.body.members()) {
    if (out.find(name) == nullptr) out.set(name, value);
  }
  return out;
}

}  // namespace

void ReplyRows::add_phases(std::vector<std::uint16_t> phases, const Dataset& dataset,
                           Result<std::unique_ptr<Scorer>> scorer) {
  Phase one;
  one.indices = std::move(phases);
  one.dataset = &dataset;
  if (scorer) {
    one.scorer = *std::move(scorer);
  } else {
    one.state = scorer.error();
  }
  phases_.push_back(std::move(one));
}

ReplyRows::Phase* ReplyRows::phase_of(std::uint16_t index) {
  for (Phase& phase : phases_) {
    if (std::ranges::find(phase.indices, index) != phase.indices.end()) return &phase;
  }
  return nullptr;
}

void ReplyRows::on_sent(const Query& query, Instant, Instant sent) {
  Phase* const phase = phase_of(query.phase);
  if (phase == nullptr) return;
  replies_.insert(query_key(query)).sample = query.sample;
  phase->first = phase->first.known() ? std::min(phase->first, sent) : sent;
}

void ReplyRows::on_stream_event(const Query& query, const StreamEvent& event,
                                std::string_view text) {
  if (!is_fragment(event.category) || phase_of(query.phase) == nullptr) return;
  Reply& reply = replies_.insert(query_key(query));
  reply.sample = query.sample;
  if (event.category == Category::text) reply.content += text;
  if (event.category == Category::reasoning) reply.reasoning += text;
  if (event.category == Category::tool_call) reply.tool_calls += text;
}

// A reply whose text is not in the log is not an empty one; to score it would give a wrong score.
void ReplyRows::tell(Phase& phase, Row& row, bool unkept) {
  static const Json kNoColumns = Json::object();
  PhaseScore& score = phase.score;
  ++score.issued;
  if (unkept && phase.state && phase.scorer->reads_text()) {
    phase.state = invalid(std::string(kTextNotKept));
  }
  if (row.answered) {
    const bool nothing = row.reply.empty() && row.artefacts.is_null();
    ++(unkept ? score.unkept : nothing ? score.empty : score.scored);
    if (row.tokens >= 0) score.tokens.push_back(row.tokens);
  } else {
    ++score.missing;
  }
  if (!phase.state) return;
  if (row.sample >= phase.dataset->rows()) {
    phase.state =
        invalid(format("the run asked row {} of '{}', which has {} rows: is it the same "
                       "dataset?",
                       row.sample + 1, phase.dataset->name, phase.dataset->rows()));
    return;
  }
  const bool made = phase.dataset->make_row != nullptr;  // made rows have no columns for scores
  Json sent;
  row.columns = &kNoColumns;
  if (!made) {
    const Sample& sample = phase.dataset->samples[row.sample];
    if (sample.columns.is_object()) row.columns = &sample.columns;
    if (!sample.tools.is_null() || sample.body.size() > 0) {
      sent = columns_with_sent(sample);
      row.columns = &sent;
    }
  }
  phase.state = phase.scorer->add(row);
  if (!phase.state || !on_judged_) return;
  on_judged_(static_cast<std::size_t>(&phase - phases_.data()), row,
             verdict_record(*phase.scorer, row));
}

void ReplyRows::on_done(const Event& event, std::string_view) {
  Phase* const phase = phase_of(event.query.phase);
  if (phase == nullptr) return;
  const std::uint64_t key = query_key(event.query);
  Reply reply;
  if (Reply* const found = replies_.find(key)) {
    reply = std::move(*found);
    replies_.erase(key);
  }
  if (event.done.known()) phase->last = std::max(phase->last, event.done);
  Row row;
  row.sample = event.query.sample;
  row.answered = event.outcome == Outcome::ok;
  const bool unkept = row.answered && event.output_bytes > 0 && reply.content.empty() &&
                      reply.reasoning.empty() && reply.tool_calls.empty();
  std::string all;
  if (row.answered) {
    row.tool_calls = tool_call_list(reply.tool_calls);
    all = reply.reasoning + reply.content;
    if (!row.tool_calls.is_null()) all += row.tool_calls.dump();
    row.reply = all;
    row.content = reply.content;
    row.reasoning = reply.reasoning;
    if (artefacts_of_) row.artefacts = artefacts_of_(event.query);
    row.tokens = tokens_of_ ? tokens_of_(event) : event.usage.completion_tokens;
  }
  tell(*phase, row, unkept);
}

std::vector<PhaseScore> ReplyRows::finish() {
  // Queries that were sent, but have no end in the log.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> open;
  replies_.for_each(
      [&open](std::uint64_t key, const Reply& reply) { open.emplace_back(key, reply.sample); });
  std::sort(open.begin(), open.end());
  for (const auto& [key, sample] : open) {
    Row row;
    row.sample = sample;
    row.answered = false;
    tell(*phase_of(static_cast<std::uint16_t>(key >> 32)), row, false);
  }
  replies_.clear();
  std::vector<PhaseScore> out;
  for (Phase& phase : phases_) {
    if (phase.first.known() && phase.last > phase.first) {
      phase.score.duration = phase.last - phase.first;
    }
    if (phase.state) {
      phase.score.verdict = phase.scorer->finish();
    } else {
      phase.score.verdict = phase.state.error();
    }
    out.push_back(std::move(phase.score));
  }
  phases_.clear();
  return out;
}

}  // namespace assay::score
