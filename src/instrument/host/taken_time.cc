#include "host/taken_time.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "host/control_groups.h"

namespace assay::host {
namespace {

constexpr std::size_t kSteal = 8;  // "cpu user nice system idle iowait irq softirq steal …"

// −1 if the word is no number.
std::int64_t whole(std::string_view word) { return parse_int(word).value_or(-1); }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

Duration stolen(const std::filesystem::path& root) {
  const Result<std::string> text = read_file(root / "proc/stat");
  if (!text) return {-1};
  const auto words = words_of(std::string_view(*text).substr(0, text->find('\n')));
  const std::int64_t ticks = words.size() > kSteal ? whole(words[kSteal]) : -1;
  if (ticks < 0) return {-1};
  return stolen_step() * ticks;
}

// Adds one group's cpu.stat. Microseconds in version 2, nanoseconds in version 1.
void add_group(const std::filesystem::path& folder, TakenTime& out) {
  const Result<std::string> text = read_file(folder / "cpu.stat");
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = words_of(line);
    if (words.size() != 2) continue;
    const std::int64_t value = std::max<std::int64_t>(whole(words[1]), 0);
    std::int64_t ns = -1;
    if (words[0] == "throttled_usec") ns = value * 1'000;
    if (words[0] == "throttled_time") ns = value;
    if (ns >= 0) out.throttled.ns = std::max<std::int64_t>(out.throttled.ns, 0) + ns;
    if (words[0] == "nr_throttled") out.throttled_periods += static_cast<std::uint64_t>(value);
  }
}

}  // namespace

Duration stolen_step() { return {1'000'000'000 / ::sysconf(_SC_CLK_TCK)}; }

TakenTime read_taken_time(const std::filesystem::path& root) {
  TakenTime out{.stolen = stolen(root)};
  // A quota of any group above applies too.
  each_control_group(root, "cpu", [&](const auto& folder) { add_group(folder, out); });
  return out;
}

TakenTime taken_between(const TakenTime& before, const TakenTime& after) {
  const auto between = [](Duration a, Duration b) {
    return a.ns < 0 || b < a ? Duration{-1} : b - a;
  };
  TakenTime out{.stolen = between(before.stolen, after.stolen),
                .throttled = between(before.throttled, after.throttled)};
  out.throttled_periods =
      after.throttled_periods - std::min(before.throttled_periods, after.throttled_periods);
  return out;
}

}  // namespace assay::host
