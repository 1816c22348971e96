// Reads accuracy_results.json in its two forms: a list of scored datasets (the reference client's
// own), or a map from a dataset's name to its scores.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "rules/derive.h"

namespace assay::rules {
namespace {

constexpr std::array<std::string_view, 17> kBookkeeping{"status",
                                                        "unit_samples",
                                                        "num_samples",
                                                        "num_repeats",
                                                        "n_repeats",
                                                        "total_samples",
                                                        "duration_s",
                                                        "complete",
                                                        "osl_tokenize_s",
                                                        "extractor",
                                                        "dataset_type",
                                                        "dataset_name",
                                                        "ground_truth_column",
                                                        "breakdown",
                                                        "response_counts",
                                                        "output_sequence_lengths",
                                                        "osl_tokenization_s"};

class Entries {
 public:
  explicit Entries(Accuracy& accuracy) : accuracy_(accuracy) {}

  void read() {
    const Json& root = accuracy_.document.root();
    const bool wrapped = root.find("accuracy_scores") != nullptr;
    const Json& scores = wrapped ? root["accuracy_scores"] : root;
    const std::string base = wrapped ? "/accuracy_scores" : "";
    if (scores.is_array()) {
      for (std::size_t i = 0; i < scores.size(); ++i) {
        add(scores[i], pointer_to(base, i), trim(scores[i]["dataset_name"].as_string()));
      }
    } else {
      for (const auto& [name, value] : scores.members()) {
        if (value.is_object()) add(value, pointer_to(base, name), name);
      }
    }
    if (accuracy_.entries.empty() && accuracy_.issues.empty()) {
      issue(base, "no scores in the file", "one entry for each scored dataset");
    }
    const auto inlined = std::ranges::count_if(accuracy_.entries, &AccuracyEntry::performance);
    if (inlined > 1) {
      issue(base, format("{} entries of the performance dataset", inlined), "one at most");
    }
  }

 private:
  void issue(std::string pointer, std::string found, std::string expected) {
    accuracy_.issues.push_back({std::move(pointer), std::move(found), std::move(expected)});
  }

  void add(const Json& item, const std::string& pointer, std::string_view name) {
    if (!item.is_object()) {
      issue(pointer, format("an entry is {}", said(item)), "an object");
      return;
    }
    if (name.empty()) issue(pointer, "an entry has no dataset_name", "the dataset's name");
    if (!name.empty() && std::ranges::count(accuracy_.entries, name, &AccuracyEntry::dataset) > 0) {
      issue(pointer, format("'{}' is scored twice", name), "one entry a dataset");
    }
    AccuracyEntry entry;
    entry.pointer = pointer;
    entry.dataset = name;
    const std::string kind = lower(item["dataset_type"].as_string());
    entry.performance = kind == "performance" || (kind.empty() && name == "performance");
    const auto samples = count(item, pointer, "unit_samples", "num_samples");
    const auto repeats = count(item, pointer, "num_repeats", "n_repeats");
    // An absurd factor must not make the product overflow.
    constexpr std::int64_t kMost = 1'000'000'000;
    entry.counted = samples.has_value();
    if (samples) entry.weight = static_cast<double>(std::max<std::int64_t>(*samples, 0));
    entry.samples = std::clamp<std::int64_t>(samples.value_or(0), 0, kMost) *
                    std::clamp<std::int64_t>(repeats.value_or(1), 0, kMost);
    read_metrics(item, entry);
    if (entry.metrics.empty()) {
      issue(pointer, format("'{}' has no score", name), "a number, or an object of metrics");
    }
    accuracy_.entries.push_back(std::move(entry));
  }

  std::optional<std::int64_t> count(const Json& item, const std::string& pointer,
                                    std::string_view name, std::string_view alias) {
    const Json& first = item[name];
    const Json& second = item[alias];
    if (first.is_number() && second.is_number() && first.as_double() != second.as_double()) {
      issue(pointer_to(pointer, alias),
            format("{} is {}, {} is {}", name, said(first), alias, said(second)),
            "the same number: they are two names of one thing");
    }
    const bool aliased = item.find(name) == nullptr;
    const Json& value = aliased ? second : first;
    if (value.is_null()) return std::nullopt;
    const auto text = parse_int(value.as_string());
    if (!value.is_number() && !text) {
      const std::string_view said_as = aliased ? alias : name;
      issue(pointer_to(pointer, said_as), format("{} is {}", said_as, said(value)), "an integer");
      return std::nullopt;
    }
    return value.is_number() ? value.as_int() : *text;
  }

  // Reads a number, or text that is one: some scorers write "45.12".
  static std::optional<double> number(const Json& value) {
    if (value.is_number()) return value.as_double();
    const auto parsed = parse_double(value.as_string());
    return parsed && std::isfinite(*parsed) ? std::optional(*parsed) : std::nullopt;
  }

  static void read_metrics(const Json& item, AccuracyEntry& entry) {
    const Json* score = item.find("score");
    if (score != nullptr && !score->is_object()) {
      if (const auto value = number(*score)) entry.metrics.emplace_back("score", *value);
      if (!score->is_null()) return;
    }
    const bool named = score != nullptr && score->is_object();
    for (const auto& [name, inner] : (named ? *score : item).members()) {
      const bool metric = named || (std::ranges::count(kBookkeeping, name) == 0 &&
                                    name != "score" && inner.is_number());
      if (!metric) continue;
      if (const auto value = number(inner)) entry.metrics.emplace_back(name, *value);
    }
  }

  Accuracy& accuracy_;
};

}  // namespace

void read_accuracy(Accuracy& accuracy) {
  if (accuracy.document.good()) Entries(accuracy).read();
}

const double* AccuracyEntry::metric(std::string_view name) const {
  const auto plain = [](std::string_view text) {
    std::string out = lower(text);
    std::erase_if(out, [](char c) { return c == '_' || c == '-' || c == ' '; });
    return out;
  };
  for (const auto& [spelled, value] : metrics) {
    if (plain(spelled) == plain(name)) return &value;
  }
  return nullptr;
}

bool Accuracy::scored() const {
  return std::ranges::any_of(entries, [](const AccuracyEntry& e) { return !e.performance; });
}

const AccuracyEntry* Accuracy::inline_entry() const {
  const auto found = std::ranges::find_if(entries, &AccuracyEntry::performance);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace assay::rules
