// The name of an enumerator as it is spelled in the code, which is how it is spelled on the wire
// (STYLE.md, rule 8), so that no list of names has to follow the enum:
//
//     std::string_view to_string(Outcome outcome) { return enum_name(outcome); }
//     const std::optional<Outcome> outcome = enum_named<Outcome>("timed_out");
//
// For an enum class whose enumerators are 0, 1, 2, … without a gap, at most 64. The names are taken
// from what gcc and clang call a template's argument, while compiling.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace assay {
namespace enum_names {

inline constexpr std::size_t kMost = 64;

// "timed_out"; empty where the enum has no such value, which is spelled as a cast: "(E)64".
template <auto value>
consteval std::string_view spelled() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("value = ") + 8);
  text = text.substr(0, text.find_first_of(";]"));
  if (text.front() == '(') return {};
  return text.substr(text.rfind(':') + 1);
}

template <typename E, std::size_t... i>
consteval std::size_t count_of(std::index_sequence<i...>) {
  return (std::size_t{0} + ... + std::size_t{!spelled<static_cast<E>(i)>().empty()});
}

// The characters themselves, with a zero behind them: the program keeps no function's signature.
template <auto value>
inline constexpr auto kText = [] {
  std::array<char, spelled<value>().size() + 1> out{};
  for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i] = spelled<value>()[i];
  return out;
}();

template <typename E, std::size_t... i>
constexpr std::array<std::string_view, sizeof...(i)> all_of(std::index_sequence<i...>) {
  return {
      std::string_view(kText<static_cast<E>(i)>.data(), kText<static_cast<E>(i)>.size() - 1)...};
}

}  // namespace enum_names

// By their numbers.
template <typename E>
inline constexpr auto kEnumNames =
    enum_names::all_of<E>(std::make_index_sequence<enum_names::count_of<E>(
                              std::make_index_sequence<enum_names::kMost>{})>{});

// REQUIRES: `value` is one of the enumerators.
template <typename E>
std::string_view enum_name(E value) {
  const auto index = static_cast<std::size_t>(value);
  CHECK(index < kEnumNames<E>.size());
  return kEnumNames<E>[index];
}

template <typename E>
std::optional<E> enum_named(std::string_view name) {
  for (std::size_t i = 0; i < kEnumNames<E>.size(); ++i) {
    if (kEnumNames<E>[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace assay
