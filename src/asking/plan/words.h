// The words of config.h's enums in files, in the order of the values.
#pragma once

#include <array>
#include <string_view>

#include "plan/config.h"
#include "plan/schema_fields.h"

namespace assay::plan {

template <>
struct Words<RunType> {
  static constexpr std::array<std::string_view, 4> kWords{"offline", "online", "eval",
                                                          "submission"};
};
template <>
struct Words<BenchmarkMode> {
  static constexpr std::array<std::string_view, 2> kWords{"offline", "online"};
};
template <>
struct Words<DatasetType> {
  static constexpr std::array<std::string_view, 2> kWords{"performance", "accuracy"};
};
template <>
struct Words<Turns> {
  static constexpr std::array<std::string_view, 2> kWords{"first", "all"};
};
template <>
struct Words<Mode> {
  static constexpr std::array<std::string_view, 3> kWords{"perf", "acc", "both"};
};
template <>
struct Words<Switch> {
  static constexpr std::array<std::string_view, 3> kWords{"auto", "on", "off"};
};
template <>
struct Words<Pattern> {
  static constexpr std::array<std::string_view, 10> kWords{
      "max_throughput", "poisson", "concurrency", "agentic_inference", "burst", "step", "constant",
      "gamma",          "ramp",    "trace"};
};
template <>
struct Words<RampOf> {
  static constexpr std::array<std::string_view, 2> kWords{"rate", "concurrency"};
};
template <>
struct Words<Api> {
  static constexpr auto kWords = [] {
    std::array<std::string_view, kApis.size()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = kApis[i].name;
    return words;
  }();
};
template <>
struct Words<HttpVersion> {
  static constexpr std::array<std::string_view, 3> kWords{"auto", "1.1", "2"};
};

template <>
struct Words<DiskFull> {
  static constexpr std::array<std::string_view, 2> kWords{"stop", "go-on"};
};

template <typename T>
constexpr std::string_view word(T value) {
  return Words<T>::kWords[static_cast<std::size_t>(value)];
}

}  // namespace assay::plan
