#include "sim/catalogue.h"

#include <algorithm>

#include "base/check.h"
#include "base/enum_name.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "sim/model_config.h"
#include "sim/yaml_file.h"

namespace assay::sim {
namespace {

template <typename Spec>
void put(std::vector<Spec>& all, Spec spec) {
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Spec& other) { return other.name == spec.name; });
  if (at == all.end()) {
    all.push_back(std::move(spec));
  } else {
    *at = std::move(spec);
  }
}

// "; did you mean 'h200-sxm'?; one of: …"
std::string choice_of(std::string_view word, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view candidate : known) {
    list += list.empty() ? "" : ", ";
    list += candidate;
  }
  const std::string_view near = nearest(word, known);
  return format("{}; one of: {}", near.empty() ? "" : format("; did you mean '{}'?", near), list);
}

template <typename Spec>
Result<Spec> find(const std::vector<Spec>& all, std::string_view name, std::string_view what) {
  const std::string wanted = lower(name);
  std::vector<std::string_view> names;
  for (const Spec& spec : all) {
    if (spec.name == wanted) return spec;
    if (std::find(spec.aliases.begin(), spec.aliases.end(), wanted) != spec.aliases.end()) {
      return spec;
    }
    names.push_back(spec.name);
  }
  return invalid(format("unknown {} '{}'{} (add your own with --catalogue FILE)", what, name,
                        choice_of(wanted, names)));
}

// A rule for a name that nothing has would never count. Empty: the rule does not ask.
Result<void> is_one_of(std::string_view name, std::string_view key, const std::string& where,
                       std::vector<std::string_view> known) {
  if (name.empty() || std::ranges::find(known, name) != known.end()) return {};
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  return invalid(
      format("{}: '{}': unknown value '{}'{}", where, key, name, choice_of(name, known)));
}

}  // namespace

Catalogue Catalogue::builtin() {
  Catalogue out;
  for (const EmbeddedFile& file : embedded_catalogue()) {
    const auto added = out.add_text(file.text, file.name);
    CHECK(added.has_value());
  }
  return out;
}

Result<void> Catalogue::add_text(std::string_view yaml, const std::string& name) {
  ASSIGN_OR_RETURN(const Json file, parse_yaml(yaml, name));
  const std::string_view kind = file["kind"].as_string();
  if (kind == "hardware") {
    ASSIGN_OR_RETURN(HardwareSpec spec, read_hardware(file, name));
    put(hardware_, std::move(spec));
  } else if (kind == "model") {
    ASSIGN_OR_RETURN(ModelSpec spec, read_model(file, name));
    put(models_, std::move(spec));
  } else if (kind == "backend") {
    ASSIGN_OR_RETURN(BackendSpec spec, read_backend(file, name));
    put(backends_, std::move(spec));
  } else if (kind == "software") {
    ASSIGN_OR_RETURN(SoftwareSpec spec, read_software(file, name));
    put(software_, std::move(spec));
  } else if (kind == "calibration") {
    TRY(read_calibration(file, name, calibration_));
  } else if (kind == "doubt") {
    std::vector<Doubt> doubts;
    for (const Json& item : file["doubt"].items()) {
      ASSIGN_OR_RETURN(Doubt doubt, read_doubt(item, name));
      doubts.push_back(std::move(doubt));
    }
    if (doubts.empty()) return invalid(format("{}: 'doubt' is missing", name));
    doubts_ = std::move(doubts);
  } else if (kind != "families") {  // those that are built in are read with a config.json
    return invalid(format(
        "{}: 'kind' must be one of: hardware, model, backend, software, calibration, doubt", name));
  }
  return {};
}

Result<void> Catalogue::add(const std::filesystem::path& path) {
  std::error_code code;
  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(path, code)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, code)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) return invalid(format("{}: no .yaml file in it", path.string()));
  } else {
    files.push_back(path);
  }
  for (const auto& file : files) {
    ASSIGN_OR_RETURN(const std::string text, read_file(file, std::size_t{1} << 20));
    TRY(add_text(text, file.string()));
  }
  const std::string where = path.string();
  for (Adjustment& adjustment : calibration_.adjustments) TRY(settle_names(adjustment.when, where));
  for (ComparedFamily& family : calibration_.compared) TRY(settle_names(family.what, where));
  return {};
}

// An alias becomes the name. Any model may be meant: one that a config.json describes has no entry
// here.
Result<void> Catalogue::settle_names(Subject& when, const std::string& where) const {
  const auto name = [&](std::string& text, const auto& found) -> Result<void> {
    if (text.empty()) return {};
    if (!found) return invalid(format("{}: {}", where, found.error().message));
    text = found->name;
    return {};
  };
  TRY(name(when.hardware, hardware(when.hardware)));
  TRY(name(when.backend, backend(when.backend)));
  std::vector<std::string_view> generations;
  for (const HardwareSpec& card : hardware_) generations.push_back(card.generation);
  TRY(is_one_of(when.generation, "generation", where, generations));
  TRY(is_one_of(when.architecture, "architecture", where, {"dense", "moe", "moe_mla"}));
  return is_one_of(when.precision, "precision", where,
                   {kEnumNames<Precision>.begin(), kEnumNames<Precision>.end()});
}

Result<HardwareSpec> Catalogue::hardware(std::string_view name) const {
  return find(hardware_, name, "hardware");
}
Result<ModelSpec> Catalogue::model(std::string_view name) const {
  if (!is_model_config_path(name)) {
    Result<ModelSpec> found = find(models_, name, "model");
    std::error_code code;
    if (!found && std::filesystem::exists(std::filesystem::path(name) / "config.json", code)) {
      return invalid(format("unknown model '{}'; for the folder of that name: ./{}", name, name));
    }
    return found;
  }
  ASSIGN_OR_RETURN(ModelSpec out, read_model_config_file(std::filesystem::path(name)));
  for (const ModelSpec& known : models_) {
    if (!same_shape(known, out)) continue;
    // The known model with this checkpoint's formats: its calibration counts.
    ModelSpec same = known;
    same.checkpoint_precision = out.checkpoint_precision;
    if (out.checkpoint_precision == "fp8") same.fp8_blocks = out.fp8_blocks;
    if (!out.attention_precision.empty()) same.attention_precision = out.attention_precision;
    return same;
  }
  return out;
}
std::string Catalogue::fitted_as(const ModelSpec& model) const {
  for (const ComparedFamily& family : calibration_.compared) {
    if (family.what.model == model.name) return model.name;
    const auto known = std::find_if(
        models_.begin(), models_.end(),
        [&](const ModelSpec& candidate) { return candidate.name == family.what.model; });
    if (known != models_.end() && same_layers(*known, model)) return known->name;
  }
  return model.name;
}

Result<BackendSpec> Catalogue::backend(std::string_view name) const {
  return find(backends_, name, "backend");
}
Result<SoftwareSpec> Catalogue::software(std::string_view name) const {
  return find(software_, name, "software generation");
}

void Catalogue::add_software(SoftwareSpec spec) { put(software_, std::move(spec)); }

}  // namespace assay::sim
