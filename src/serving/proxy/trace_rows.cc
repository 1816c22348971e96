#include "proxy/trace_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/blake2b.h"
#include "base/json_list.h"

namespace assay::proxy {
namespace {

constexpr std::size_t kNameBytes = 16;
constexpr std::int64_t kLearnFrom = 64;  // tokens of a prompt that tells the bytes of a token
constexpr std::int64_t kRowTokensMax = 10'000'000;

std::string_view api_of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kKinds{
      {{"/chat/completions", "chat"},
       {"/completions", "completions"},
       {"/messages", "messages"},
       {"/responses", "responses"}}};
  for (const auto& [end, name] : kKinds) {
    if (path.ends_with(end)) return name;
  }
  return "other";
}

double whole_ms(Duration d) { return std::round(d.ms()); }
double tenth_ms(Duration d) { return std::round(d.ms() * 10) / 10; }

void set_gaps(const std::vector<Instant>& outputs, Json& row) {
  if (outputs.size() < 2) return;
  std::vector<Duration> gaps;
  for (std::size_t i = 1; i < outputs.size(); ++i) gaps.push_back(outputs[i] - outputs[i - 1]);
  std::ranges::sort(gaps);
  row.set("gap_ms_p50", tenth_ms(gaps[(gaps.size() - 1) / 2]))
      .set("gap_ms_p99", tenth_ms(gaps[(gaps.size() - 1) * 99 / 100]))
      .set("gap_ms_max", tenth_ms(gaps.back()));
}

}  // namespace

std::vector<std::string> TraceRows::cut(std::string_view prompt, std::int64_t& tokens) const {
  std::vector<std::string> out;
  const auto block = static_cast<std::size_t>(options_.block);
  if (options_.tokenizer != nullptr) {
    if (const auto ids = options_.tokenizer->encode(prompt)) {
      tokens = static_cast<std::int64_t>(ids->size());
      for (std::size_t i = 0; i < ids->size(); i += block) {
        const std::size_t count = std::min(block, ids->size() - i);
        out.emplace_back(reinterpret_cast<const char*>(ids->data() + i),
                         count * sizeof(text::TokenId));
      }
      return out;
    }
  }
  const double bytes = bytes_per_token();
  tokens = std::max<std::int64_t>(1, std::llround(static_cast<double>(prompt.size()) / bytes));
  const auto size = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(bytes * static_cast<double>(block))));
  for (std::size_t i = 0; i < prompt.size(); i += size) out.emplace_back(prompt.substr(i, size));
  return out;
}

TraceRows::Blocks TraceRows::name(std::span<const std::string> pieces) {
  Blocks out;
  std::string chain = options_.secret;
  for (const std::string& piece : pieces) {
    chain = blake2b_hex(options_.secret + chain + piece, kNameBytes);
    auto found = names_.find(chain);
    if (found == names_.end()) {
      if (names_.size() >= options_.names_max) {
        counts_.blocks_unnamed += pieces.size() - out.numbers.size();
        break;  // what follows is of no use without it
      }
      found = names_.emplace(chain, static_cast<std::uint32_t>(places_.size())).first;
      places_.push_back({.number = found->second});
    }
    out.numbers.push_back(found->second);
  }
  counts_.blocks += out.numbers.size();
  const bool part = !pieces.empty() && pieces.size() == out.numbers.size() &&
                    (pieces.size() == 1 || pieces.back().size() < pieces.front().size());
  out.whole = out.numbers.size() - (part ? 1 : 0);
  return out;
}

// The deepest whole block at which one earlier prompt ended, and no other went on.
void TraceRows::link(const Blocks& blocks, Json& row) {
  std::uint64_t session = 0;
  std::uint32_t turn = 0;
  for (std::size_t i = blocks.whole; i > 0; --i) {
    const Place& place = places_[blocks.numbers[i - 1]];
    if (place.session == 0) continue;
    if (place.passed == 1 && i < blocks.numbers.size()) {
      session = place.session;
      turn = place.turn + 1;
    }
    break;
  }
  for (std::size_t i = 0; i < blocks.whole; ++i) ++places_[blocks.numbers[i]].passed;
  if (blocks.whole == 0) return;
  if (session == 0) session = ++sessions_;
  Place& end = places_[blocks.numbers[blocks.whole - 1]];
  end.session = session;
  end.turn = turn;
  row.set("session", session).set("turn", turn);
}

std::pair<std::int64_t, std::string_view> TraceRows::output_length(
    const Seen& seen, const ReplyFigures& reply) const {
  if (reply.output_tokens) return {*reply.output_tokens, "usage"};
  if (options_.tokenizer != nullptr) {
    if (const auto n = options_.tokenizer->count(reply.text)) {
      return {static_cast<std::int64_t>(*n), "tokenizer"};
    }
  }
  if (seen.event_stream) return {static_cast<std::int64_t>(reply.outputs.size()), "events"};
  return {std::llround(static_cast<double>(reply.text.size()) / bytes_per_token()), "bytes"};
}

Json TraceRows::row(const Seen& seen) {
  const std::string prompt = seen.post ? prompt_text(seen.body) : std::string();
  if (prompt.empty()) {
    ++counts_.other;
    return {};
  }
  const ReplyFigures reply = read_reply(seen);
  if (!bytes_per_token_ && options_.tokenizer == nullptr &&
      reply.input_tokens.value_or(0) >= kLearnFrom) {
    bytes_per_token_ =
        static_cast<double>(prompt.size()) / static_cast<double>(*reply.input_tokens);
  }
  std::int64_t input = 0;
  const std::vector<std::string> pieces = cut(prompt, input);
  std::string_view input_from = options_.tokenizer != nullptr ? "tokenizer" : "bytes";
  if (reply.input_tokens.value_or(0) > 0) {
    input = *reply.input_tokens;
    input_from = "usage";
    ++counts_.input_by_server;
  }
  if (reply.output_tokens) ++counts_.output_by_server;
  const auto [output, output_from] = output_length(seen, reply);
  input = std::clamp<std::int64_t>(input, 1, kRowTokensMax);
  Blocks blocks = name(pieces);
  // As many blocks as the length has, where the server's count and ours differ.
  const auto fit = static_cast<std::size_t>((input + options_.block - 1) / options_.block);
  if (blocks.numbers.size() > fit) {
    blocks.numbers.resize(fit);
    blocks.whole = std::min(blocks.whole, fit);
  }
  // A reply without an output event has no length to replay: the reader leaves its row out.
  const bool useful = seen.status == 200 && seen.whole && output > 0;
  const int status = seen.status == 200 && !useful ? 0 : seen.status;
  Json row;
  row.set("timestamp", std::max(0.0, whole_ms(seen.arrived - options_.start)))
      .set("input_length", input)
      .set("output_length", std::min(output, kRowTokensMax))
      .set("hash_ids", json_list(blocks.numbers))
      .set("block_size", options_.block)
      .set("api", api_of(seen.path))
      .set("stream", seen.event_stream)
      .set("status", status)
      .set("whole", seen.whole)
      .set("input_from", input_from)
      .set("output_from", output_from);
  if (!reply.outputs.empty() && seen.event_stream) {
    row.set("ttft_ms", tenth_ms(reply.outputs.front() - seen.arrived));
    set_gaps(reply.outputs, row);
  }
  if (seen.ended.known()) row.set("latency_ms", tenth_ms(seen.ended - seen.arrived));
  if (reply.cached_tokens) row.set("cached_tokens", *reply.cached_tokens);
  link(blocks, row);
  ++counts_.rows;
  return row;
}

}  // namespace assay::proxy
