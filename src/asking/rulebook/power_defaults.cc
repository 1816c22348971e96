// Appendix D of the rules: the power of a part without a published figure.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/has_word.h"
#include "base/text.h"
#include "rulebook/power.h"

namespace assay::rulebook {
namespace {

struct Keyword {
  std::string_view word{};
  double watts = 0;
};
// Names are compared without anything but letters and digits. Longer words come before shorter ones
// that they contain.
constexpr std::array kAccelerators{
    Keyword{"mi455x", 2500}, Keyword{"mi355x", 1400}, Keyword{"mi350x", 1000},
    Keyword{"tpuv7", 1000},  Keyword{"tn3", 700},     Keyword{"gb300", 1400},
    Keyword{"gb200", 1200},  Keyword{"b300", 1100},   Keyword{"b200", 1000},
};

struct Switch {
  std::string_view word{};
  double passive_w = 0;
  double optical_w = 0;  // 0: none
};
constexpr std::array kSwitches{Switch{"sn6810ld", 1960, 1960}, Switch{"sn4700", 630, 0},
                               Switch{"sn5400", 670, 0}, Switch{"sn5610", 900, 2080}};

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "GB-300 NVL72" -> "gb300nvl72".
std::string letters_and_digits(std::string_view name) {
  std::string out = lower(name);
  std::erase_if(out, [](char c) { return !is_digit(c) && (c < 'a' || c > 'z'); });
  return out;
}

// Whole words only: "agile" has no "agi" in it, "charm" no "arm".
bool has_any_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view one) { return has_word(text, one, "_"); });
}

// "Example CPU 64-core", "64 core", "64core" -> 64, or 0.
std::int64_t cores_in_name(std::string_view name) {
  for (std::size_t at = name.find("core"); at != std::string_view::npos;
       at = name.find("core", at + 1)) {
    std::size_t end = at;
    while (end > 0 && (name[end - 1] == ' ' || name[end - 1] == '-')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_digit(name[begin - 1])) --begin;
    const auto cores = parse_int(name.substr(begin, end - begin));
    if (cores) return *cores;
  }
  return 0;
}

}  // namespace

std::optional<double> cooling_fraction(std::string_view words) {
  const std::string text = lower(words);
  if (has_any(text, {"liquid", "water", "immersion"})) return 0.30;
  if (has_any(text, {"air"})) return 0.50;
  return std::nullopt;
}

std::optional<double> default_accelerator_w(std::string_view model) {
  const std::string name = letters_and_digits(model);
  for (const Keyword& keyword : kAccelerators) {
    if (name.find(keyword.word) != std::string::npos) return keyword.watts;
  }
  return std::nullopt;
}

std::optional<double> default_cpu_w(std::string_view model, std::int64_t cores) {
  const std::string name = lower(model);
  if (cores <= 0) cores = cores_in_name(name);
  if (cores <= 0) return std::nullopt;
  if (has_any_word(name,
                   {"grace", "neoverse", "arm", "graviton", "axion", "ampere", "altra", "agi"})) {
    constexpr std::int64_t kArmCoresMax = 128;
    return cores <= kArmCoresMax ? std::optional(300.0) : std::nullopt;
  }
  if (has_any_word(name, {"xeon", "epyc", "intel", "amd", "x86", "x86_64"}))
    return cores <= 64 ? 350.0 : 500.0;
  return std::nullopt;
}

std::optional<double> default_switch_w(std::string_view model, bool optical) {
  const std::string name = letters_and_digits(model);
  for (const Switch& one : kSwitches) {
    if (name.find(one.word) == std::string::npos) continue;
    const double watts = optical ? one.optical_w : one.passive_w;
    return watts > 0 ? std::optional(watts) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace assay::rulebook
