#include "site/policy.h"

#include <algorithm>
#include <functional>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "base/yaml.h"
#include "net/url.h"

namespace assay::site {
namespace {

constexpr std::size_t kPolicyBytesMax = std::size_t{1} << 20;

Error at(int line, std::string_view what) { return invalid(format("line {}: {}", line, what)); }

// The keys of one map, each with what reads it.
struct KeyReader {
  std::string_view name{};
  bool required = false;
  std::function<Result<void>(const yaml::Node&)> read{};
};

Result<void> read_map(const yaml::Node& node, std::string_view what,
                      const std::vector<KeyReader>& readers) {
  if (!node.is_map()) return at(node.line, format("{}: {}, not a map", what, node.kind_name()));
  for (const auto& [key, value] : node.members) {
    const auto found = std::ranges::find(readers, key.name, &KeyReader::name);
    if (found == readers.end()) {
      return at(key.line, format("{}: unknown key {}", what, json_quote(key.name)));
    }
    if (const auto done = found->read(value); !done) {
      return at(key.line, format("{}: {}", key.name, done.error().message));
    }
  }
  for (const KeyReader& reader : readers) {
    if (reader.required && node.find(reader.name) == nullptr) {
      return at(node.line, format("{}: needs {}", what, reader.name));
    }
  }
  return {};
}

std::function<Result<void>(const yaml::Node&)> text_to(std::string& out) {
  return [&out](const yaml::Node& node) -> Result<void> {
    if (!node.is_scalar() || node.text.empty()) return invalid("not a text");
    out = node.text;
    return {};
  };
}

std::function<Result<void>(const yaml::Node&)> path_to(std::filesystem::path& out,
                                                       const std::filesystem::path& folder) {
  return [&out, &folder](const yaml::Node& node) -> Result<void> {
    if (!node.is_scalar() || node.text.empty()) return invalid("not a path");
    out = folder / node.text;
    return {};
  };
}

// A part of a dataset's SPEC, in which these have a meaning of their own.
std::function<Result<void>(const yaml::Node&)> data_file_to(std::filesystem::path& out,
                                                            const std::filesystem::path& folder) {
  return [&out, &folder](const yaml::Node& node) -> Result<void> {
    TRY(path_to(out, folder)(node));
    if (out.string().find_first_of(",#") != std::string::npos) {
      return invalid("a path without ',' and '#'");
    }
    return {};
  };
}

std::function<Result<void>(const yaml::Node&)> count_to(std::int64_t& out, std::int64_t most) {
  return [&out, most](const yaml::Node& node) -> Result<void> {
    const auto value = parse_int(node.text);
    if (!node.is_scalar() || !value || *value < 1 || *value > most) {
      return invalid(format("a whole number from 1 to {}", most));
    }
    out = *value;
    return {};
  };
}

std::function<Result<void>(const yaml::Node&)> texts_to(std::vector<std::string>& out) {
  return [&out](const yaml::Node& node) -> Result<void> {
    if (!node.is_list()) return invalid("not a list");
    for (const yaml::Node& item : node.items) {
      if (!item.is_scalar()) return invalid("a list of texts");
      out.push_back(item.text);
    }
    return {};
  };
}

// One of two words.
std::function<Result<void>(const yaml::Node&)> word_to(std::string& out, std::string_view one,
                                                       std::string_view other) {
  return [&out, one, other](const yaml::Node& node) -> Result<void> {
    if (!node.is_scalar() || (node.text != one && node.text != other)) {
      return invalid(format("{} or {}", one, other));
    }
    out = node.text;
    return {};
  };
}

// A name, or a file of the folder.
std::function<Result<void>(const yaml::Node&)> part_to(std::string& out,
                                                       const std::filesystem::path& folder) {
  return [&out, &folder](const yaml::Node& node) -> Result<void> {
    TRY(text_to(out)(node));
    if (out.find('.') != std::string::npos) out = (folder / out).string();
    return {};
  };
}

// A map from ids to maps.
template <typename Thing>
std::function<Result<void>(const yaml::Node&)> things_to(
    std::map<std::string, Thing, std::less<>>& out,
    std::function<Result<void>(const yaml::Node&, Thing&)> read) {
  return [&out, read = std::move(read)](const yaml::Node& node) -> Result<void> {
    if (!node.is_map()) return invalid("not a map from ids");
    for (const auto& [key, value] : node.members) {
      if (!is_plain_id(key.name))
        return at(key.line, format("{} is not an id", json_quote(key.name)));
      TRY(read(value, out[key.name]));
    }
    return {};
  };
}

Result<void> read_orders(const yaml::Node& node, OrderLimits& out) {
  constexpr std::int64_t kAny = std::int64_t{1} << 40;
  std::string safety;
  TRY(read_map(node, "orders",
               {{"benchmarks", true, texts_to(out.benchmarks)},
                {"concurrency_max", true, count_to(out.concurrency_max, kAny)},
                {"samples_max", true, count_to(out.samples_max, kAny)},
                {"output_tokens_max", true, count_to(out.output_tokens_max, kAny)},
                {"scorers", false, texts_to(out.scorers)},
                {"curve", false, word_to(out.curve, "quick", "full")},
                {"safety", false, word_to(safety, "true", "false")}}));
  out.safety = safety == "true";
  return {};
}

Result<void> read_release(const yaml::Node& node, sites::ReleasePolicy& out) {
  std::int64_t digits = 0;
  TRY(read_map(node, "release",
               {{"fields", true, texts_to(out.fields)},
                {"k_minimum", true, count_to(out.k_minimum, 1'000'000'000)},
                {"digits", true, count_to(digits, 15)}}));
  out.digits = static_cast<int>(digits);
  for (const std::string& field : out.fields) {
    if (!sites::is_release_field(field)) {
      return at(node.line, format("fields: no release has {}", json_quote(field)));
    }
  }
  return {};
}

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const yaml::Node root, yaml::parse(text));
  Policy out;
  const auto dataset = [&folder](const yaml::Node& node, PrivateDataset& one) {
    return read_map(node, "dataset",
                    {{"file", true, data_file_to(one.file, folder)},
                     {"description", false, text_to(one.description)},
                     {"options", false, texts_to(one.options)},
                     {"ground_truth", false, text_to(one.ground_truth)},
                     {"extractor", false, text_to(one.extractor)},
                     {"preparation", false, path_to(one.preparation, folder)}});
  };
  const auto model = [](const yaml::Node& node, PrivateModel& one) {
    return read_map(node, "model",
                    {{"endpoint", true, text_to(one.endpoint)},
                     {"name", true, text_to(one.name)},
                     {"api_key_env", false, text_to(one.api_key_env)}});
  };
  TRY(read_map(
      root, "policy",
      {{"hub", true, text_to(out.hub.url)},
       {"token_file", true, path_to(out.hub.token_file, folder)},
       {"ca_file", false, text_to(out.hub.ca_file)},
       {"store", true, path_to(out.store, folder)},
       {"folder", true, path_to(out.folder, folder)},
       {"key", true, path_to(out.key, folder)},
       {"datasets", true, things_to<PrivateDataset>(out.datasets, dataset)},
       {"models", true, things_to<PrivateModel>(out.models, model)},
       {"orders", true, [&out](const yaml::Node& node) { return read_orders(node, out.orders); }},
       {"safety", false,
        [&out, &folder](const yaml::Node& node) {
          return read_map(node, "safety",
                          {{"prompts", false, part_to(out.safety.prompts, folder)},
                           {"judges", false, part_to(out.safety.judges, folder)},
                           {"standard", false, part_to(out.safety.standard, folder)}});
        }},
       {"release", true,
        [&out](const yaml::Node& node) { return read_release(node, out.release); }}}));
  if (!out.hub.ca_file.empty()) out.hub.ca_file = (folder / out.hub.ca_file).string();
  TRY(net::parse_url(out.hub.url));
  return out;
}

Result<Policy> load_policy(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file, kPolicyBytesMax));
  auto policy = parse_policy(text, std::filesystem::absolute(file).parent_path());
  if (!policy) return policy.error().within(format("policy '{}'", file.string()));
  return policy;
}

std::string why_not(const Policy& policy, std::string_view benchmark, std::string_view dataset,
                    std::string_view model, const sites::Measurement& measurement) {
  const OrderLimits& limits = policy.orders;
  if (!lists(limits.benchmarks, benchmark)) {
    return format("the policy does not list benchmark '{}'", benchmark);
  }
  if (!policy.datasets.contains(dataset)) {
    return format("the policy has no dataset '{}'", dataset);
  }
  if (!policy.models.contains(model)) return format("the policy has no model '{}'", model);
  for (const std::int64_t level : measurement.concurrency) {
    if (level > limits.concurrency_max) {
      return format("concurrency {} is above {}", level, limits.concurrency_max);
    }
  }
  if (measurement.samples > limits.samples_max) {
    return format("{} samples are more than {}", measurement.samples, limits.samples_max);
  }
  if (measurement.max_output_tokens > limits.output_tokens_max) {
    return format("{} output tokens are more than {}", measurement.max_output_tokens,
                  limits.output_tokens_max);
  }
  if (!measurement.scorer.empty() && !lists(limits.scorers, measurement.scorer)) {
    return format("the policy does not list scorer '{}'", measurement.scorer);
  }
  if (measurement.curve && limits.curve.empty()) return "the policy allows no curve";
  if (!measurement.safety_min.empty() && !limits.safety) return "the policy allows no safety run";
  return "";
}

}  // namespace assay::site
