#include "protocol/learned_template.h"

#include <array>

namespace assay::protocol {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* past_digits(const char* p, const char* end) {
  while (p != end && is_digit(*p)) ++p;
  return p;
}

}  // namespace

// In a sound JSON text, an unescaped quote before the name opens a string (behind one that closes a
// string no name could follow), and a colon behind it makes it a member's name, wherever it stands.
std::string_view varying_value(std::string_view data, std::string_view name) {
  const std::size_t at = data.find(name);
  if (at == std::string_view::npos || at == 0) return {};
  const char before = data[at - 1];
  if (before != ',' && before != '{' && !is_blank(before)) return {};
  const char* p = data.data() + at + name.size();
  const char* const end = data.data() + data.size();
  while (p != end && is_blank(*p)) ++p;
  if (p == end || *p != ':') return {};
  ++p;
  while (p != end && is_blank(*p)) ++p;
  if (p == end) return {};
  if (*p == '"') {
    const char* const stop = find_special(++p, end);
    if (stop == end || *stop != '"') return {};
    return {p, static_cast<std::size_t>(stop - p)};
  }
  const char* const stop = past_digits(p, end);
  const bool whole = stop != p && stop != end && *stop != '.' && *stop != 'e' && *stop != 'E';
  if (!whole) return {};
  return {p, static_cast<std::size_t>(stop - p)};
}

const char* body_end(const char* p, const char* end) {
  for (;;) {
    p = find_special(p, end);
    if (p == end || static_cast<unsigned char>(*p) < 0x20) return nullptr;
    if (*p == '"') return p;
    if (end - p < 2) return nullptr;
    p += 2;
  }
}

const char* value_end(const char* p, const char* end, bool number) {
  if (!number) {
    const char* const stop = find_special(p, end);
    return stop != end && *stop == '"' ? stop : nullptr;
  }
  const char* const stop = past_digits(p, end);
  return stop == p || (*p == '0' && stop - p > 1) ? nullptr : stop;
}

void learn(std::string_view data, const RawString& hole, Category category, std::uint16_t choice,
           const VaryingNames& varying, StreamState& state) {
  state.prefix_bytes = 0;
  state.varying_count = 0;
  if (data.size() - hole.size > kTemplateBytesMax) return;
  std::array<std::string_view, kVaryingMax> values{};
  std::size_t count = 0;
  for (const std::string_view name : varying) {
    if (name.empty()) continue;
    const std::string_view value = varying_value(data, name);
    if (value.data() == nullptr) continue;
    // In the order of the text.
    std::size_t at = count++;
    for (; at > 0 && value.data() < values[at - 1].data(); --at) values[at] = values[at - 1];
    values[at] = value;
  }
  std::string& both = state.prefix_and_suffix;
  both.clear();
  const char* from = data.data();
  const auto keep_until = [&](const char* until) {
    both.append(from, static_cast<std::size_t>(until - from));
  };
  const auto pass_hole = [&] {
    keep_until(hole.data);
    from = hole.data + hole.size;
    state.prefix_bytes = both.size();
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view value = values[i];
    if (state.prefix_bytes == 0 && value.data() > hole.data) pass_hole();
    keep_until(value.data());
    from = value.data() + value.size();
    const bool number = value.data()[-1] != '"';
    state.varying[state.varying_count++] = {.at = static_cast<std::uint32_t>(both.size()),
                                            .number = number};
  }
  if (state.prefix_bytes == 0) pass_hole();
  keep_until(data.data() + data.size());
  state.category = category;
  state.choice = choice;
}

std::string_view find_fragment(std::string_view data, const StreamState& state) {
  SameBytes walk(data, state.prefix_and_suffix);
  std::string_view found;
  // Where it finds none, what stands behind the text in the template does not come here either.
  const auto pass_hole = [&] {
    if (!walk.same_until(state.prefix_bytes)) return;
    const char* const stop = body_end(walk.p, walk.end);
    if (stop == nullptr) return;
    found = {walk.p, static_cast<std::size_t>(stop - walk.p)};
    walk.p = stop;
  };
  for (std::size_t i = 0; i < state.varying_count; ++i) {
    const TemplateGap& gap = state.varying[i];
    if (found.data() == nullptr && gap.at >= state.prefix_bytes) pass_hole();
    if (!walk.same_until(gap.at)) return {};
    walk.p = value_end(walk.p, walk.end, gap.number);
    if (walk.p == nullptr) return {};
  }
  if (found.data() == nullptr) pass_hole();
  return walk.same_to_the_end() ? found : std::string_view{};
}

}  // namespace assay::protocol
