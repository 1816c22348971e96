// The accuracy run: accuracy.txt, the truncated log, the dataset.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

constexpr std::uint64_t kJsonBytesMax = 10'240;

std::string_view skip(std::string_view text, std::string_view any) {
  const std::size_t end = text.find_first_not_of(any);
  return end == std::string_view::npos ? std::string_view{} : text.substr(end);
}

std::string_view number_at(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789."), text.size()));
}

// How a metric stands in a line: behind the last `key` (or at the line's begin), spaces, a quote.
struct Pattern {
  std::string_view metric{};
  std::string_view key{};
  bool at_begin = false;
  std::string_view spaces = "";  // "+": at least one, "1": exactly one, "*": any number
  bool quote = false;
};
constexpr std::string_view kBlank = " \t\r\f\v";
constexpr std::array<Pattern, 18> kPatterns{
    {{"AUC", "AUC=", true, "", false},
     {"DLRM_NE", "metric/lifetime_ne/rating:", false, "*"},
     {"DLRM_ACC", "metric/lifetime_accuracy/rating:", false, "*"},
     {"DLRM_AUC", "metric/lifetime_gauc/rating:", false, "*"},
     {"ROUGE1", "'rouge1':", false, "+", true},
     {"ROUGE2", "'rouge2':", false, "+", true},
     {"ROUGEL", "'rougeL':", false, "+", true},
     {"ROUGELSUM", "'rougeLsum':", false, "+", true},
     {"GEN_LEN", "'gen_len':", false, "1"},
     {"TOKENS_PER_SAMPLE", "'tokens_per_sample':", false, "1"},
     {"CLIP_SCORE", "'CLIP_SCORE':", false, "+", true},
     {"FID_SCORE", "'FID_SCORE':", false, "+", true},
     {"gsm8k_accuracy", "'gsm8k':", false, "1"},
     {"mbxp_accuracy", "'mbxp':", false, "1"},
     {"exact_match", "'exact_match':", false, "1"},
     {"vbench_score", "'vbench_score':", false, "1"},
     {"E2E_ACCURACY", "Accuracy:", true, "*"},
     {"BLEU", "BLEU:", true, "*"}}};

// The number at `text` as the pattern wants it, or nothing.
std::string_view value_behind(const Pattern& pattern, std::string_view text) {
  const std::string_view bare = skip(text, kBlank);
  const std::size_t blanks = text.size() - bare.size();
  if (pattern.spaces == "+" && blanks == 0) return {};
  if (pattern.spaces == "1" && blanks != 1) return {};
  if (pattern.spaces.empty() && blanks != 0) return {};
  std::string_view value = bare;
  if (pattern.quote && value.starts_with('\'')) value.remove_prefix(1);
  return number_at(value);
}

std::string_view last_behind(const Pattern& pattern, std::string_view line) {
  if (pattern.at_begin) {
    if (!line.starts_with(pattern.key)) return {};
    return value_behind(pattern, line.substr(pattern.key.size()));
  }
  // The last place that has a number.
  for (std::size_t at = line.rfind(pattern.key); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : line.rfind(pattern.key, at - 1)) {
    const std::string_view found = value_behind(pattern, line.substr(at + pattern.key.size()));
    if (!found.empty()) return found;
  }
  return {};
}

// accuracy=75.6%, {"accuracy": 0.7
std::string_view plain_accuracy(std::string_view line) {
  if (line.starts_with("{\"accuracy")) {
    line.remove_prefix(10);
  } else if (line.starts_with("accuracy")) {
    line.remove_prefix(8);
  } else {
    return {};
  }
  line = skip(line, "\": ");
  if (line.starts_with('=')) line.remove_prefix(1);
  return number_at(skip(line, kBlank));
}

// {"exact_match": 83.1, "f1": 90.8}
std::string_view squad_f1(std::string_view line) {
  const auto key = [&](std::string_view name) {
    if (line.empty() || (line[0] != '"' && line[0] != '\'')) return false;
    line.remove_prefix(1);
    if (!line.starts_with(name)) return false;
    line.remove_prefix(name.size());
    if (line.empty() || (line[0] != '"' && line[0] != '\'')) return false;
    line.remove_prefix(1);
    if (!line.starts_with(':')) return false;
    line = skip(line.substr(1), kBlank);
    return true;
  };
  if (!line.starts_with('{')) return {};
  line.remove_prefix(1);
  if (!key("exact_match") || number_at(line).empty()) return {};
  line.remove_prefix(number_at(line).size());
  if (!line.starts_with(',')) return {};
  line = skip(line.substr(1), kBlank);
  if (!key("f1")) return {};
  const std::string_view found = number_at(line);
  return line.substr(found.size()).starts_with('}') ? found : std::string_view{};
}

std::string_view word_accuracy(std::string_view line) {
  if (!line.starts_with("Word Error Rate:")) return {};
  constexpr std::string_view kKey = ", accuracy=";
  const std::size_t at = line.rfind(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view found = number_at(line.substr(at + kKey.size()));
  return line.substr(at + kKey.size() + found.size()).starts_with('%') ? found : std::string_view{};
}

std::string_view mean_dice(std::string_view line) {
  if (!line.starts_with("Accuracy:")) return {};
  line = skip(line.substr(9), kBlank);
  if (!line.starts_with("mean")) return {};
  line = skip(line.substr(4), kBlank);
  if (!line.starts_with('=')) return {};
  return number_at(skip(line.substr(1), kBlank));
}

std::string_view mean_precision(std::string_view line) {
  const std::string_view one = last_behind({"mAP", "mAP=", false, "*"}, line);
  const std::string_view other = last_behind({"mAP", "'Total':", false, "*"}, line);
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  return one.data() > other.data() ? one : other;
}

std::string_view hierarchical_f1(std::string_view line) {
  if (!line.starts_with('{') || line.find('}') == std::string_view::npos) return {};
  return last_behind({"F1_HIERARCHICAL", "\"f1\":", false, "*"}, line);
}

// Whether an accuracy run was read at all; another rule names it.
bool has_text(const At& at, Out& out) {
  if (at.result->official != nullptr && at.result->accuracy_text.present()) return true;
  out.not_applicable();
  return false;
}

bool is_hash(std::string_view line) {
  if (!line.starts_with("hash=") || line.size() == 5) return false;
  return std::ranges::all_of(line.substr(5), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

void check_accuracy_text(const At& at, Out& out) {
  if (at.result->of_endpoints) return out.not_applicable();
  if (!at.result->accuracy_text.present()) {
    out.error({at.result->accuracy_text.name, 0}, "no such file", "the accuracy script's output");
  }
}

void check_accuracy_hash(const At& at, Out& out) {
  if (!has_text(at, out) || at.open()) return out.not_applicable();
  for (const std::string_view line : split(*at.result->accuracy_text.text, '\n')) {
    if (is_hash(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line)) return;
  }
  out.error({at.result->accuracy_text.name, 0}, "no line hash=<sha256>",
            "the hash of the whole accuracy log");
}

void check_accuracy_metrics(const At& at, Out& out) {
  if (!has_text(at, out) || at.open()) return out.not_applicable();
  const std::string scenario = at.result->scenario_name();
  const auto least = at.result->official->at_least(scenario);
  const auto most = at.result->official->at_most(scenario);
  const std::string& file = at.result->accuracy_text.name;
  std::vector<bool> seen(least.size(), false);
  bool hash = false;
  int number = 0;
  for (const std::string_view line : split(*at.result->accuracy_text.text, '\n')) {
    ++number;
    const auto held = [&](const std::pair<std::string, double>& bound, bool upper) {
      const std::string_view text = metric_in(bound.first, line);
      if (text.empty()) return false;
      const auto value = parse_double(text);
      const bool good = value && (upper ? *value <= bound.second : *value >= bound.second);
      if (!good) {
        out.error({file, number}, bound.first + " " + std::string(text),
                  format("at {} {:.10g}", upper ? "most" : "least", bound.second));
      }
      return true;
    };
    for (std::size_t i = 0; i < least.size(); ++i) {
      if (held(least[i], false)) seen[i] = true;
    }
    for (const auto& bound : most) held(bound, true);
    hash = hash || is_hash(trim(line));
    if (hash && std::ranges::find(seen, false) == seen.end()) break;
  }
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (seen[i]) continue;
    out.error({file, 0}, "no " + least[i].first, format("at least {:.10g}", least[i].second));
  }
}

void check_accuracy_json(const At& at, Out& out) {
  if (at.result->of_endpoints) return out.not_applicable();
  const std::string name = at.result->accuracy_path() + "/mlperf_log_accuracy.json";
  if (!at.result->accuracy_json_bytes) {
    out.error({name, 0}, "no such file", "the truncated accuracy log");
  } else if (*at.result->accuracy_json_bytes > kJsonBytesMax) {
    out.error({name, 0}, format("{} bytes", *at.result->accuracy_json_bytes),
              format("at most {} bytes", kJsonBytesMax));
  }
}

void check_accuracy_log(const At& at, Out& out) {
  if (at.result->of_endpoints) return out.not_applicable();
  const DetailLog& log = at.result->accuracy;
  if (log.absent()) return out.error({log.name(), 0}, "no such file", "the run's detail log");
  if (!log.good()) return out.error(log.place(), log.trouble(), "lines of :::MLLOG and JSON");
  for (const DetailLog::Error& error : log.errors()) {
    out.error({log.name(), error.line}, error.text, "a run without errors of LoadGen");
  }
}

void check_accuracy_dataset(const At& at, Out& out) {
  const DetailLog& log = at.result->accuracy;
  if (at.result->official == nullptr || !log.good()) return out.not_applicable();
  const std::string key = log.has("effective_accuracy_sample_count")
                              ? "effective_accuracy_sample_count"
                              : "qsl_reported_total_count";
  const std::int64_t wanted = at.result->official->accuracy_samples(at.result->scenario_name());
  if (log[key].is_number() && log[key].as_int() == wanted) return;
  out.error(log.place(key), log[key].is_null() ? "nothing" : said(log[key]),
            format("{} samples, the whole dataset", wanted));
}

void check_accuracy_files(const At& at, Out& out) {
  if (at.result->official == nullptr || at.result->official->accuracy_files.empty()) {
    return out.not_applicable();
  }
  for (const auto& [folder, wanted] : at.result->official->accuracy_files) {
    const auto there = at.result->accuracy_folders.find(folder);
    const std::string path = at.result->accuracy_path() + "/" + folder;
    if (there == at.result->accuracy_folders.end()) {
      out.error({path, 0}, "no such folder", "the named " + folder);
      continue;
    }
    for (const std::string& name : wanted) {
      const auto same = [&](const std::string& file) {
        return file.substr(0, file.find('.')) == name;
      };
      if (std::ranges::any_of(there->second, same)) continue;
      out.error({path, 0}, "no file " + name, "the " + folder + " that the round names");
    }
  }
}

}  // namespace

std::string_view metric_in(std::string_view metric, std::string_view line) {
  if (metric == "acc") return plain_accuracy(line);
  if (metric == "F1") return squad_f1(line);
  if (metric == "ACCURACY") return word_accuracy(line);
  if (metric == "DICE") return mean_dice(line);
  if (metric == "mAP") return mean_precision(line);
  if (metric == "F1_HIERARCHICAL") return hierarchical_f1(line);
  const auto found = std::ranges::find(kPatterns, metric, &Pattern::metric);
  return found == kPatterns.end() ? std::string_view{} : last_behind(*found, line);
}

void add_accuracy(Rules& rules) {
  const ResultRules add{rules, "accuracy"};
  add("inf-accuracy-text", "checker: AccuracyCheck.accuracy_result_check",
      "accuracy/accuracy.txt is there", "add what the accuracy script prints", check_accuracy_text);
  add("inf-accuracy", "checker: AccuracyCheck.accuracy_result_check",
      "every metric of the model keeps its bounds (open: any value)",
      "find out why the answers are worse, and measure again", check_accuracy_metrics);
  add("inf-accuracy-hash", "checker: AccuracyCheck.accuracy_result_check",
      "accuracy.txt has the hash of the whole log", "truncate the log with the suite's script",
      check_accuracy_hash);
  add("inf-accuracy-json", "checker: AccuracyCheck.accuracy_json_check",
      "the accuracy log is there and truncated", "truncate the log with the suite's script",
      check_accuracy_json);
  add("inf-accuracy-log", "checker: AccuracyCheck.loadgen_errors_check",
      "the accuracy run's detail log is readable and without errors",
      "mend the cause and run again", check_accuracy_log);
  add("inf-accuracy-samples", "checker: AccuracyCheck.dataset_check",
      "the accuracy run asked the whole dataset", "run accuracy on the whole dataset",
      check_accuracy_dataset);
  add("inf-accuracy-files", "checker: AccuracyCheck.extra_files_check",
      "the pictures or videos that the round names are kept", "copy them there",
      check_accuracy_files);
}

}  // namespace assay::rules::inference
