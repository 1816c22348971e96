// What stands beside a result: measurements.json, user.conf, README.md.
#include <array>

#include "rules/inference/rule.h"

namespace assay::rules::inference {
namespace {

constexpr std::array<std::string_view, 5> kImplementation{
    "input_data_types", "retraining", "starting_weights_filename", "weight_data_types",
    "weight_transformations"};

void check_measurements_file(const At& at, Out& out) {
  const Document& file = at.result->measurements;
  if (file.absent())
    return out.error({file.name(), 0}, "no such file", "the implementation's facts");
  if (file.broken()) return out.error(file.place(), file.trouble(), "a JSON object");
  for (const std::string_view name : kImplementation) {
    const Json* const value = file.root().find(name);
    if (value == nullptr) {
      out.error({file.name(), 0}, "no field " + std::string(name), "the field");
    } else if (value->is_null() || (value->is_string() && value->as_string().empty()) ||
               (value->is_bool() && !value->as_bool()) ||
               ((value->is_array() || value->is_object()) && value->size() == 0) ||
               (value->is_number() && value->as_double() == 0)) {
      out.error(file.place(pointer_to("", name)), std::string(name) + " is empty",
                "what the implementation does");
    }
  }
}

void check_measurements_beside(const At& at, Out& out) {
  const Folder& folder = at.result->measurements_folder;
  for (const std::string name : {"user.conf", "README.md"}) {
    if (name == "user.conf" && at.result->of_endpoints) continue;
    const std::string path = folder.path + "/" + name;
    if (!folder.has(name)) {
      out.error({path, 0}, "no such file", "the file");
    } else if (at.result->measurement_bytes.at(name) == 0) {
      out.error({path, 0}, "the file is empty",
                name == "user.conf" ? "the settings of the run" : "how to repeat the run");
    }
  }
}

}  // namespace

void add_measurements(Rules& rules) {
  rules.push_back({{.id = "inf-measurements",
                    .group = "measurements",
                    .action = Action::reject_points,
                    .clause = "checker: MeasurementsCheck.required_fields_check",
                    .demand = "measurements.json says what the implementation computes with",
                    .fix = "fill the five fields in"},
                   Subject::result,
                   check_measurements_file});
  rules.push_back({{.id = "inf-measurement-files",
                    .group = "measurements",
                    .action = Action::reject_points,
                    .clause = "checker: MeasurementsCheck.required_files_check",
                    .demand = "user.conf and README.md are there and not empty",
                    .fix = "add the file"},
                   Subject::result,
                   check_measurements_beside});
}

}  // namespace assay::rules::inference
