// Appendix D of the rules: the power of a part without a published figure.
#include <array>
#include <initializer_list>

#include "base/text.h"
#include "rulebook/power.h"

namespace assay::rulebook {
namespace {

struct Keyword {
  std::string_view word{};
  double watts = 0;
};
// Longer words come before shorter ones that they contain.
constexpr std::array kAccelerators{
    Keyword{"mi455x", 2500}, Keyword{"mi355x", 1400},  Keyword{"mi350x", 1000},
    Keyword{"tpu v7", 1000}, Keyword{"trainium", 700}, Keyword{"gb300", 1400},
    Keyword{"gb200", 1200},  Keyword{"b300", 1100},    Keyword{"b200", 1000},
};

struct Switch {
  std::string_view word{};
  double passive_w = 0;
  double optical_w = 0;  // 0: none
};
constexpr std::array kSwitches{Switch{"sn6810-ld", 1960, 1960}, Switch{"sn4700", 630, 0},
                               Switch{"sn5400", 670, 0}, Switch{"sn5610", 900, 2080}};

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// "Example CPU 64-core" -> 64, or 0.
std::int64_t cores_in_name(std::string_view name) {
  const std::size_t end = name.find("-core");
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  const auto cores = parse_int(name.substr(begin, end - begin));
  return cores ? *cores : 0;
}

}  // namespace

std::optional<double> cooling_fraction(std::string_view words) {
  const std::string text = lower(words);
  if (has_any(text, {"liquid", "water", "immersion"})) return 0.30;
  if (has_any(text, {"air"})) return 0.50;
  return std::nullopt;
}

std::optional<double> default_accelerator_w(std::string_view model) {
  const std::string name = lower(model);
  for (const Keyword& keyword : kAccelerators) {
    if (name.find(keyword.word) != std::string::npos) return keyword.watts;
  }
  return std::nullopt;
}

std::optional<double> default_cpu_w(std::string_view model, std::int64_t cores) {
  const std::string name = lower(model);
  if (cores <= 0) cores = cores_in_name(name);
  if (cores <= 0) return std::nullopt;
  if (has_any(name, {"grace", "neoverse", "arm", "axion", "ampere", "graviton", "vera"})) {
    constexpr std::int64_t kArmCoresMax = 128;
    return cores <= kArmCoresMax ? std::optional(300.0) : std::nullopt;
  }
  if (has_any(name, {"xeon", "epyc", "amd", "intel"})) return cores <= 64 ? 350.0 : 500.0;
  return std::nullopt;
}

std::optional<double> default_switch_w(std::string_view model, bool optical) {
  const std::string name = lower(model);
  for (const Switch& one : kSwitches) {
    if (name.find(one.word) == std::string::npos) continue;
    const double watts = optical ? one.optical_w : one.passive_w;
    return watts > 0 ? std::optional(watts) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace assay::rulebook
