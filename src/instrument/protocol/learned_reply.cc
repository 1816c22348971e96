#include "protocol/learned_reply.h"

#include <algorithm>
#include <cstring>

#include "protocol/learned_template.h"

namespace assay::protocol {
namespace {

// The most replies in a row that pass without being learned.
constexpr std::uint32_t kWaitMax = 64;
// A count with this many digits fits into 31 bits.
constexpr std::ptrdiff_t kCountDigitsMax = 9;

std::int32_t number_of(const char* p, const char* end) {
  std::int32_t value = 0;
  for (; p != end; ++p) value = 10 * value + (*p - '0');
  return value;
}

bool has_escapes(const char* begin, const char* end) {
  return std::memchr(begin, '\\', static_cast<std::size_t>(end - begin)) != nullptr;
}

}  // namespace

// A shape that lasted is replaced at once by the next.
bool LearnedReply::due() {
  if (lasted_) wait_ = 0;
  if (passed_++ < wait_) return false;
  wait_ = std::min(2 * wait_ + 1, kWaitMax);
  passed_ = 0;
  lasted_ = false;
  return true;
}

void LearnedReply::learn(Spoken api, std::string_view data, const RawString& text,
                         const DecodedEvent& event) {
  if (data.size() - text.size > kTemplateBytesMax || !due()) return;
  bytes_.clear();
  const char* const end = data.data() + data.size();
  // With escapes a member's name could be written in another way than the names below.
  if (has_escapes(data.data(), text.data) || has_escapes(text.data + text.size, end)) return;

  struct Value {
    std::string_view bytes{};
    Form form = Form::text;
  };
  std::array<Value, kGapsMax> values{};
  std::size_t count = 0;
  const auto add = [&](std::string_view bytes, Form form) {  // in the order of the text
    std::size_t at = count++;
    for (; at > 0 && bytes.data() < values[at - 1].bytes.data(); --at) values[at] = values[at - 1];
    values[at] = {bytes, form};
  };
  add(text.view(), Form::text);
  for (const std::string_view name : {R"("id")", R"("created")", R"("total_tokens")"}) {
    const std::string_view value = varying_value(data, name);
    if (value.data() == nullptr) continue;
    add(value, value.data()[-1] == '"' ? Form::string : Form::digits);
  }
  const auto add_count = [&](std::string_view name, std::int32_t known, Form form) {
    const std::string_view value = varying_value(data, name);
    if (value.data() == nullptr) return;
    if (data.find(name) != data.rfind(name)) return;  // the grammar may have read the other one
    if (static_cast<std::ptrdiff_t>(value.size()) > kCountDigitsMax) return;
    if (number_of(value.data(), value.data() + value.size()) == known) add(value, form);
  };
  add_count(R"("prompt_tokens")", event.usage.prompt_tokens, Form::prompt_tokens);
  add_count(R"("completion_tokens")", event.usage.completion_tokens, Form::completion_tokens);

  const char* from = data.data();
  for (std::size_t i = 0; i < count; ++i) {
    bytes_.append(from, values[i].bytes.data());
    gaps_[i] = {bytes_.size(), values[i].form};
    from = values[i].bytes.data() + values[i].bytes.size();
  }
  bytes_.append(from, end);
  gap_count_ = count;
  api_ = api;
  event_ = event;
}

bool LearnedReply::read(Spoken api, std::string_view data, DecodedEvent& event,
                        std::string_view& text) {
  if (bytes_.empty() || api != api_) return false;
  SameBytes walk(data, bytes_);
  Usage usage = event_.usage;
  for (std::size_t i = 0; i < gap_count_; ++i) {
    const Gap& gap = gaps_[i];
    if (!walk.same_until(gap.at)) return false;
    const char* const begin = walk.p;
    walk.p = gap.form == Form::text ? body_end(begin, walk.end)
                                    : value_end(begin, walk.end, gap.form != Form::string);
    if (walk.p == nullptr) return false;
    if (gap.form == Form::text) {
      if (walk.p == begin) return false;
      text = {begin, static_cast<std::size_t>(walk.p - begin)};
    } else if (gap.form == Form::prompt_tokens || gap.form == Form::completion_tokens) {
      if (walk.p - begin > kCountDigitsMax) return false;
      const std::int32_t tokens = number_of(begin, walk.p);
      (gap.form == Form::prompt_tokens ? usage.prompt_tokens : usage.completion_tokens) = tokens;
    }
  }
  if (!walk.same_to_the_end()) return false;
  lasted_ = true;
  event = event_;
  event.usage = usage;
  return true;
}

}  // namespace assay::protocol
