// Catalogue: the hardware, models, backends and calibration that the simulator knows. The shipped
// files are built into the binary (cmake/catalogue.cmake); a user may add a file or a folder of
// files. The later of two equal names counts.
//
// Every file names its kind: `kind: hardware | model | backend | software | calibration | doubt`.
// The format is in docs/formats/catalogue.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/backend.h"
#include "sim/doubt.h"
#include "sim/hardware.h"
#include "sim/model.h"
#include "sim/software.h"

namespace assay::sim {

struct EmbeddedFile {
  std::string name;
  std::string text;
};
// The build writes it from catalogue/.
std::vector<EmbeddedFile> embedded_catalogue();

class Catalogue {
 public:
  // The shipped catalogue. CHECKs that it can be read; a test proves it.
  static Catalogue builtin();

  Result<void> add_text(std::string_view yaml, const std::string& name);
  // A .yaml file, or every .yaml file below a folder, in order of name. What a calibration names
  // (cards, engines, generations, formats) must be there by then.
  Result<void> add(const std::filesystem::path& path);

  void add_software(SoftwareSpec spec);  // in the place of one of that name

  // Find by name or alias; the error for an unknown name lists the nearest and all. A model's name
  // may be the path of a config.json (sim/model_config.h): of a shape that the catalogue has, it is
  // that model in the checkpoint's format.
  Result<HardwareSpec> hardware(std::string_view name) const;
  Result<ModelSpec> model(std::string_view name) const;
  Result<BackendSpec> backend(std::string_view name) const;
  Result<SoftwareSpec> software(std::string_view name) const;
  // The model whose fitted constants hold for this one: itself, or a fitted model with the same
  // layers (Llama 2 70B has those of Llama 3.1 70B), or else itself.
  std::string fitted_as(const ModelSpec& model) const;
  const Calibration& calibration() const { return calibration_; }
  Calibration& calibration() { return calibration_; }
  const std::vector<Doubt>& doubts() const { return doubts_; }

  const std::vector<HardwareSpec>& all_hardware() const { return hardware_; }
  const std::vector<ModelSpec>& all_models() const { return models_; }
  const std::vector<BackendSpec>& all_backends() const { return backends_; }
  const std::vector<SoftwareSpec>& all_software() const { return software_; }

 private:
  Result<void> settle_names(Subject& when, const std::string& where) const;

  std::vector<HardwareSpec> hardware_{};
  std::vector<ModelSpec> models_{};
  std::vector<BackendSpec> backends_{};
  std::vector<SoftwareSpec> software_{};
  Calibration calibration_{};
  std::vector<Doubt> doubts_{};
};

}  // namespace assay::sim
