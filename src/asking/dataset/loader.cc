#include "dataset/loader.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "dataset/sharegpt.h"
#include "dataset/trace.h"

namespace assay::dataset {
namespace {

constexpr std::int64_t kTraceTokensMax = 500'000'000;  // some 2.5 GB of text

}  // namespace

Loader::Loader(const Spec& spec, RowMapper::Cells cells, RowKind kind, std::optional<Preset> preset)
    : spec_(spec), mapper_(spec, cells, std::move(preset)), kind_(kind) {}

Error Loader::at(std::string_view place, std::string_view message) const {
  return invalid(format("{}:{}: {}", spec_.path, place, message));
}

Result<void> Loader::add(Json row, std::string_view place) {
  if (!row.is_object()) {
    return at(place,
              format(R"(expected a row such as {{"prompt": "…"}}, found {})", row.type_name()));
  }
  if (rows_ == std::numeric_limits<std::uint32_t>::max()) {
    return at(place, "more rows than can be numbered in 32 bits");
  }
  ++rows_;
  const bool any = kind_ == RowKind::any && spec_.parser.empty();
  if ((any && (is_azure_llm(row) || is_burstgpt(row))) ||
      ((any || kind_ == RowKind::mooncake) && is_bailian(row))) {
    return add_lengths(row, place);
  }
  if (kind_ == RowKind::mooncake || kind_ == RowKind::openai_batch ||
      (any && (is_mooncake(row) || is_openai_batch(row)))) {
    return add_trace(row, place);
  }
  const bool conversation = is_conversation(row) && row.find("prompt") == nullptr;
  if (kind_ == RowKind::sharegpt && !conversation) {
    return at(place, "expected a list 'conversations' in this row");
  }
  if (conversation) return add_conversation(row, place);
  auto sample = mapper_.map(std::move(row));
  if (!sample) return at(place, sample.error().message);
  keep(*std::move(sample));
  return {};
}

void Loader::keep(Sample sample) {
  if (spec_.keep_max > 0 && samples_.size() >= spec_.keep_max) {
    ++not_kept_;
  } else {
    samples_.push_back(std::move(sample));
  }
}

Result<void> Loader::add_text(std::string_view text, std::string_view place) {
  auto row = Json::parse(text);
  if (!row) return at(place, valid_utf8(text) ? row.error().message : "bytes that are not UTF-8");
  return add(*std::move(row), place);
}

Result<void> Loader::add_trace(const Json& row, std::string_view place) {
  const bool batch = kind_ == RowKind::openai_batch || is_openai_batch(row);
  if (batch && !is_openai_batch(row)) {
    return at(place, "expected a row with custom_id, url and body");
  }
  if (!batch && row["status"].is_integer() && row["status"].as_int() != 200) {
    ++without_tokens_;  // a request that failed as the proxy recorded it
    return {};
  }
  auto read = batch ? read_openai_batch(row) : read_mooncake(row, rows_, spec_.prefer_token_ids);
  if (!read) return at(place, read.error().message);
  if (!batch) tokens_ += row["input_length"].as_int(0);
  if (tokens_ > kTraceTokensMax) {
    return at(place, format("more than {} tokens of prompts; use the first rows (rows_max=N)",
                            with_thousands(kTraceTokensMax)));
  }
  ++traced_;
  if (read->at) times_.push_back(*read->at);
  samples_.push_back(std::move(read->sample));
  return {};
}

Result<void> Loader::add_lengths(const Json& row, std::string_view place) {
  const auto trace = is_bailian(row)     ? mooncake_of_bailian(row)
                     : is_azure_llm(row) ? mooncake_of_azure(row)
                                         : mooncake_of_burstgpt(row);
  if (!trace) return at(place, trace.error().message);
  if (!trace->is_null()) return add_trace(*trace, place);
  ++without_tokens_;
  return {};
}

Result<void> Loader::add_conversation(const Json& row, std::string_view place) {
  auto conversation = parse_conversation(row);
  if (!conversation) return at(place, conversation.error().message);
  ++conversations_;
  if (spec_.all_turns) {
    std::vector<Sample> turns = turns_of(*conversation);
    if (turns.empty()) ++skipped_;
    for (Sample& turn : turns) keep(std::move(turn));
    return {};
  }
  const Turn* asked = conversation->first_user_turn();
  if (asked == nullptr) {
    ++skipped_;
    return {};
  }
  Sample sample;
  const Turn& first = conversation->turns.front();
  if (first.role == "system") sample.system = first.text;
  sample.prompt = asked->text;
  sample.session = conversation->id;
  keep(std::move(sample));
  return {};
}

void Loader::order_by_time(Dataset& out) {
  if (times_.empty()) return;
  const std::size_t count = out.samples.size() + out.not_kept;
  if (times_.size() != count) {
    out.notes.push_back(format("'{}': {} of {} rows have no timestamp, so there is no schedule",
                               spec_.path, count - times_.size(), count));
    return;
  }
  if (!std::is_sorted(times_.begin(), times_.end())) {
    std::vector<std::size_t> order(times_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return times_[a] < times_[b]; });
    std::vector<Sample> samples;
    std::vector<Duration> times;
    for (const std::size_t i : order) {
      samples.push_back(std::move(out.samples[i]));
      times.push_back(times_[i]);
    }
    out.samples = std::move(samples);
    times_ = std::move(times);
    out.notes.push_back(format("'{}': its rows were put in order of time", spec_.path));
  }
  out.arrivals = std::move(times_);
  const Duration first = out.arrivals.front();
  for (Duration& at : out.arrivals) at = at - first;
}

Result<Dataset> Loader::finish(std::string sha256) {
  if (auto mapped = mapper_.finish(); !mapped) return mapped.error().within(spec_.path);
  if (samples_.empty()) {
    return invalid(rows_ == 0 ? format("'{}' has no rows", spec_.path)
                   : without_tokens_ > 0
                       ? format("'{}': no request has tokens", spec_.path)
                       : format("'{}': no conversation has a message of a user", spec_.path));
  }
  Dataset out{.name = spec_.name,
              .path = spec_.path,
              .sha256 = std::move(sha256),
              .samples = std::move(samples_),
              .not_kept = not_kept_};
  if (out.name.empty()) out.name = std::filesystem::path(spec_.path).stem().string();
  if (conversations_ > 0) {
    out.notes.push_back(format("'{}': conversations; {}", spec_.path,
                               spec_.all_turns ? "every human turn is asked after what was recorded"
                                               : "the first human turn of each is asked"));
  }
  if (skipped_ > 0) {
    out.notes.push_back(format("'{}': {} of {} conversations have no human turn and are left out",
                               spec_.path, skipped_, conversations_));
  }
  if (without_tokens_ > 0) {
    out.notes.push_back(
        format("'{}': {} of {} requests have no tokens, as those that failed, and "
               "are left out",
               spec_.path, without_tokens_, rows_));
  }
  if (tokens_ > 0) {
    out.notes.push_back(format("'{}': a trace without text; its prompts are made, {}", spec_.path,
                               spec_.prefer_token_ids ? "of token ids exactly as many as it says"
                                                      : "sized by an estimate of tokens a word"));
  }
  order_by_time(out);
  return out;
}

}  // namespace assay::dataset
