// A model's shape from the config.json that its publisher ships beside the weights (Hugging Face).
//
// Read are layers, widths, heads, experts, the kinds of attention (full, MLA, sliding, sparse,
// linear), multi-token prediction and the quantisation of the checkpoint, under the names that
// published families use, at the top or below text_config, llm_config and the like. What a file
// leaves out because it equals the default of its family (model_type) is that. What decides the
// cost of a token and is missing, contradicts itself or is not modelled is an error that names
// the field. Pure, except for read_model_config_file; any thread.
#pragma once

#include <filesystem>
#include <string>

#include "sim/model.h"

namespace assay::sim {

// `name`: of the result; `where`: the file's name in errors.
Result<ModelSpec> read_model_config(const Json& config, const std::string& name,
                                    const std::string& where);

// `path`: a config.json, or a folder that has one. Formats may stand in hf_quant_config.json beside
// it. The name is that of the folder, or of a file
// NAME_config.json or NAME.json, in lower case and without an organisation ("org--name").
Result<ModelSpec> read_model_config_file(const std::filesystem::path& path);
// Whether a model's name is meant as such a path: it has a slash or ends in .json.
bool is_model_config_path(std::string_view name);

// Alike in all that the cost of a token depends on, apart from formats; same_layers: and from the
// vocabulary.
bool same_shape(const ModelSpec& a, const ModelSpec& b);
bool same_layers(const ModelSpec& a, const ModelSpec& b);

}  // namespace assay::sim
