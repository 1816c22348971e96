#include "sim/model_config.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "sim/config_fields.h"

namespace assay::sim {
namespace {

std::optional<unsigned> intermediate_size(ConfigFields& at) {
  return at.count({"intermediate_size", "ffn_hidden_size", "n_inner", "inner_dim",
                   "ffn_config.ffn_hidden_size"});
}

unsigned need_intermediate_size(ConfigFields& at) {
  const auto found = intermediate_size(at);
  if (!found) at.fail("intermediate_size", "is missing");
  return found.value_or(0);
}

unsigned count_ones(const Json& list) {
  unsigned out = 0;
  for (const Json& item : list.items()) out += item.as_int() != 0 ? 1U : 0U;
  return out;
}

// Families whose feed-forward has two matrices: no gate.
bool without_gate(std::string_view type, std::string_view activation) {
  if (activation == "relu2" || activation == "squared_relu") return true;
  const std::vector<std::string_view> families = {
      "gpt2", "gptj", "gpt_neox", "gpt_neo", "gpt_bigcode", "bloom",    "falcon",
      "opt",  "phi",  "mpt",      "codegen", "starcoder2",  "nemotron", "persimmon"};
  return std::find(families.begin(), families.end(), type) != families.end();
}

// Families whose attention normalises queries and keys without a field that says so.
bool normalises_heads(std::string_view type) {
  for (const std::string_view family :
       {"qwen3", "gemma3", "exaone4", "apertus", "dots1", "hunyuan_v1"}) {
    if (type.starts_with(family)) return true;
  }
  return false;
}

void read_mla(ConfigFields& at, ModelSpec& out) {
  out.kv_rank = at.need({"kv_lora_rank"});
  out.q_rank = at.count({"q_lora_rank"}).value_or(0);
  out.nope_dim = at.need({"qk_nope_head_dim"});
  out.rope_dim = at.need({"qk_rope_head_dim"});
  out.value_dim = at.need({"v_head_dim"});
}

void read_heads(ConfigFields& at, ModelSpec& out) {
  out.heads = at.need({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  out.mla = at.count({"kv_lora_rank"}).value_or(0) > 0;
  if (out.mla) return read_mla(at, out);
  const bool one = at.flag("multi_query") && !at.flag("new_decoder_architecture");
  out.kv_heads = at.count({"num_key_value_heads", "num_kv_heads", "n_head_kv",
                           "multi_query_group_num", "attn_config.kv_n_heads"})
                     .value_or(one ? 1 : out.heads);
  if (out.kv_heads > out.heads) at.fail("num_key_value_heads", "is above num_attention_heads");
  const auto head_dim = at.count({"head_dim", "attention_head_dim", "kv_channels"});
  if (!head_dim && out.heads > 0 && out.hidden % out.heads != 0) {
    at.fail("head_dim", format("is missing, and hidden_size {} is not a multiple of {} heads",
                               out.hidden, out.heads));
  }
  out.head_dim = head_dim.value_or(out.heads > 0 ? out.hidden / out.heads : 0);
  out.value_dim = at.count({"v_head_dim"}).value_or(out.head_dim);
  if (out.head_dim == 0) at.fail("head_dim", "must be above 0");
  const std::string_view type = at.text("model_type");
  out.output_gate = at.flag("attn_output_gate") || type == "qwen3_next";
  out.norm_across_heads = at.text("qk_norm_type") == "per_layer" || type == "minimax_m2" ||
                          type == "olmo2" || type == "olmo3" || type == "olmoe";
  out.query_key_norm = out.norm_across_heads || at.flag("use_qk_norm") || at.flag("qk_layernorm") ||
                       normalises_heads(type);
}

// How many layers have attention of each kind.
struct Kinds {
  unsigned full = 0;
  unsigned sliding = 0;
  unsigned linear = 0;
  unsigned none = 0;     // no attention
  unsigned no_ffn = 0;   // no feed-forward
  unsigned experts = 0;  // of a pattern that says so
};

// layer_types: a word for each layer.
Kinds kinds_of_words(ConfigFields& at, const Json& words) {
  Kinds out;
  for (const Json& item : words.items()) {
    const std::string_view word = item.as_string();
    if (word == "full_attention" || word == "attention" || word == "global_attention") {
      ++out.full;
    } else if (word == "sliding_attention" || word == "chunked_attention" ||
               word == "local_attention") {
      ++out.sliding;
    } else if (word == "linear_attention" || word == "mamba" || word == "mamba2" ||
               word == "lightning_attention") {
      ++out.linear;
    } else {
      at.fail("layer_types", format("has '{}', which is not modelled", word));
    }
  }
  return out;
}

// hybrid_override_pattern: M Mamba, * attention, - feed-forward, E experts, each alone in a layer.
Kinds kinds_of_pattern(ConfigFields& at, std::string_view pattern) {
  Kinds out;
  for (const char letter : pattern) {
    if (letter == '|') continue;
    const bool mixer = letter == 'M' || letter == '*';
    if (letter == 'M') ++out.linear;
    if (letter == '*') ++out.full;
    if (letter == 'E') ++out.experts;
    if (mixer) ++out.no_ffn;
    if (letter == '-' || letter == 'E') ++out.none;
    if (!mixer && letter != '-' && letter != 'E') {
      at.fail("hybrid_override_pattern", format("has '{}', which is not modelled", letter));
    }
  }
  return out;
}

// Sliding windows of configurations that have no word for each layer.
unsigned sliding_layers(ConfigFields& at, const ModelSpec& m) {
  const std::string_view type = at.text("model_type");
  if (const Json& chunked = at.value("no_rope_layers"); at.count({"attention_chunk_size"})) {
    return chunked.size() > 0 ? count_ones(chunked) : m.layers - m.layers / 4;
  }
  if (!at.count({"sliding_window", "sliding_window_size"})) return 0;
  const bool asks = !at.value("use_sliding_window").is_null() || type.starts_with("qwen");
  if (asks && !at.flag("use_sliding_window")) return 0;
  if (const Json& mixed = at.value("hybrid_layer_pattern"); mixed.size() > 0) {
    return count_ones(mixed);
  }
  if (const auto period = at.count({"sliding_window_pattern", "_sliding_window_pattern"})) {
    return *period > 0 ? m.layers - m.layers / *period : 0;
  }
  if (type == "gemma2" || type == "gpt_oss") return (m.layers + 1) / 2;
  if (type.starts_with("gemma3")) return m.layers - m.layers / 6;
  if (type == "cohere2") return m.layers - m.layers / 4;
  if (asks) return m.layers - std::min(m.layers, at.count({"max_window_layers"}).value_or(0));
  return m.layers;
}

Kinds layer_kinds(ConfigFields& at, const ModelSpec& m) {
  if (const Json& words = at.value("layer_types"); words.size() > 0) {
    return kinds_of_words(at, words);
  }
  if (const std::string_view pattern = at.text("hybrid_override_pattern"); !pattern.empty()) {
    return kinds_of_pattern(at, pattern);
  }
  Kinds out;
  if (const Json& types = at.value("attn_type_list"); types.size() > 0) {
    for (const Json& item : types.items()) ++(item.as_int() == 0 ? out.linear : out.full);
    return out;
  }
  if (const Json& listed = at.value("linear_attn_config.kda_layers"); listed.size() > 0) {
    out.linear = static_cast<unsigned>(listed.size());
  } else if (const auto every = at.count({"full_attention_interval"}); every && *every > 0) {
    out.linear = m.layers - m.layers / *every;
  }
  out.sliding = out.linear > 0 ? 0 : sliding_layers(at, m);
  out.full = m.layers - std::min(m.layers, out.linear + out.sliding);
  return out;
}

void config_linear(ConfigFields& at, ModelSpec& out) {
  if (out.linear_layers == 0) return;
  if (at.count({"mamba_num_heads", "mamba_n_heads"})) {  // Mamba 2
    out.linear_value_heads = at.need({"mamba_num_heads", "mamba_n_heads"});
    out.linear_value_dim = at.need({"mamba_head_dim", "mamba_d_head"});
    out.linear_key_heads = at.count({"n_groups", "mamba_n_groups"}).value_or(1);
    out.linear_key_dim = at.need({"ssm_state_size", "mamba_d_state"});
    return;
  }
  if (at.value("linear_attn_config").is_object()) {
    out.linear_key_heads = out.linear_value_heads = at.need({"linear_attn_config.num_heads"});
    out.linear_key_dim = out.linear_value_dim = at.need({"linear_attn_config.head_dim"});
    return;
  }
  if (!at.value("attn_type_list").is_null()) {  // lightning attention: the heads of the others
    out.linear_key_heads = out.linear_value_heads = out.heads;
    out.linear_key_dim = out.linear_value_dim = out.head_dim;
    return;
  }
  out.linear_key_heads = at.need({"linear_num_key_heads"});
  out.linear_key_dim = at.need({"linear_key_head_dim"});
  out.linear_value_heads = at.need({"linear_num_value_heads"});
  out.linear_value_dim = at.need({"linear_value_head_dim"});
}

Kinds config_attention(ConfigFields& at, ModelSpec& out) {
  read_heads(at, out);
  const Kinds kinds = layer_kinds(at, out);
  if (kinds.full + kinds.sliding + kinds.linear + kinds.none != out.layers) {
    at.fail("num_hidden_layers", "is not the number of layers whose attention is listed");
  }
  out.sliding_layers = out.mla ? 0 : kinds.sliding;
  out.linear_layers = kinds.linear;
  out.layers_without_attention = kinds.none;
  out.layers_without_ffn = kinds.no_ffn;
  if (out.sliding_layers > 0) {
    out.sliding_window = at.need({"sliding_window", "attention_chunk_size", "sliding_window_size"});
  }
  config_linear(at, out);
  if (const auto top = at.count({"index_topk"}); top && *top > 0) {
    out.sparse_top = *top;
    out.sparse_heads = at.need({"index_n_heads"});
    out.sparse_dim = at.need({"index_head_dim"});
  }
  return kinds;
}

// Layers of the first kind in a list of 0 and 1, or of words.
unsigned dense_in(const Json& list) {
  unsigned out = 0;
  for (const Json& item : list.items()) {
    const bool dense = item.is_string() ? item.as_string() == "dense" : item.as_int() == 0;
    out += dense ? 1U : 0U;
  }
  return out;
}

// Layers whose feed-forward is not a mixture.
unsigned dense_layers(ConfigFields& at, const ModelSpec& m) {
  if (const Json& list = at.value("mlp_layer_types"); list.size() > 0) return dense_in(list);
  if (const Json& list = at.value("moe_layer_freq"); list.size() > 0) return dense_in(list);
  if (const Json& listed = at.value("moe_layers"); listed.size() > 0) {
    return m.layers - std::min(m.layers, static_cast<unsigned>(listed.size()));
  }
  if (const std::string_view listed = at.text("moe_layers_enum"); !listed.empty()) {
    return m.layers - std::min(m.layers, static_cast<unsigned>(split(listed, ',').size()));
  }
  const unsigned first =
      at.count({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}).value_or(0);
  const unsigned every =
      std::max(1U, at.count({"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step",
                             "moe_layer_interval", "expert_layer_period"})
                       .value_or(1));
  const auto named = static_cast<unsigned>(at.value("mlp_only_layers").size());
  const unsigned rest = m.layers - std::min(m.layers, first);
  return std::min(m.layers, first + (rest - rest / every) + named);
}

void read_shared(ConfigFields& at, ModelSpec& out) {
  const unsigned shared = at.count({"n_shared_experts", "num_shared_experts",
                                    "moe_num_shared_experts", "num_shared_expert"})
                              .value_or(at.text("model_type").starts_with("llama4") ? 1 : 0);
  const auto whole =
      at.count({"shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim"});
  const auto each = at.count({"moe_shared_expert_intermediate_size"});
  out.shared_inner = whole ? *whole : shared * each.value_or(out.expert_inner);
  out.experts_shared = shared > 0 ? shared : (out.shared_inner > 0 ? 1 : 0);
}

void read_feed_forward(ConfigFields& at, const Kinds& kinds, ModelSpec& out) {
  const std::string_view type = at.text("model_type");
  std::string_view activation = at.text("hidden_act");
  if (activation.empty()) activation = at.text("mlp_hidden_act");
  out.ffn_matrices = out.expert_matrices = without_gate(type, activation) ? 2 : 3;
  const unsigned experts = at.count({"n_routed_experts", "num_experts", "num_local_experts",
                                     "moe_num_experts", "ffn_config.moe_num_experts"})
                               .value_or(0);
  if (experts <= 1) {
    const auto inner = intermediate_size(at);
    if (!inner && out.ffn_matrices == 3) need_intermediate_size(at);
    out.ffn_inner = inner.value_or(4 * out.hidden);
    return;
  }
  out.experts = experts;
  out.experts_active =
      at.need({"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk",
               "moe_top_k", "moe_k", "top_k_experts", "ffn_config.moe_top_k"});
  if (out.experts_active > experts) at.fail("num_experts_per_tok", "is above the experts");
  out.expert_inner =
      at.count({"moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"})
          .value_or(0);
  if (out.expert_inner == 0) out.expert_inner = need_intermediate_size(at);
  read_shared(at, out);
  out.dense_layers = kinds.experts > 0 ? out.layers - out.layers_without_ffn - kinds.experts
                                       : dense_layers(at, out);
  if (out.dense_layers > 0) {
    const auto apart = at.count({"intermediate_size_mlp", "dense_intermediate_size"});
    out.ffn_inner = apart ? *apart : need_intermediate_size(at);
  }
}

// The format that a map of bits, type and group says.
std::string format_of_weights(const Json& weights, std::string_view packing) {
  const std::int64_t bits = weights["num_bits"].as_int(weights["bits"].as_int());
  const bool floating = weights["type"].as_string() == "float";
  if (bits == 8) return floating ? "fp8" : "int8";
  if (bits != 4) return format("{} bits", bits);
  if (!floating) return "int4";
  const bool wide = weights["group_size"].as_int() == 32;
  return packing.find("mxfp4") != std::string_view::npos || wide ? "mxfp4" : "nvfp4";
}

// "" if nothing is quantised.
std::string quantised_to(const Json& how) {
  if (!how.is_object()) return {};
  const std::string method = lower(how["quant_method"].as_string());
  const std::string algorithm = lower(how["quant_algo"].as_string());
  if (algorithm == "nvfp4" || method == "modelopt_fp4" || method == "nvfp4") return "nvfp4";
  if (algorithm.starts_with("fp8") || method == "fp8" || method == "fbgemm_fp8") return "fp8";
  if (algorithm.starts_with("w4")) return "int4";
  if (algorithm == "mixed_precision") return "nvfp4";
  if (method == "mxfp4") return "mxfp4";
  for (const auto& [name, group] : how["config_groups"].members()) {
    if (!group["weights"].is_object()) continue;
    std::string_view packing = group["format"].as_string();
    if (packing.empty()) packing = how["format"].as_string();
    return format_of_weights(group["weights"], packing);
  }
  if (how["load_in_4bit"].as_bool()) return "int4";
  if (how["load_in_8bit"].as_bool()) return "int8";
  if (how["bits"].is_number()) return format_of_weights(how, {});
  return method.empty() ? algorithm : method;
}

// Whether an FP8 checkpoint's scales are of blocks.
bool in_blocks(const Json& how) {
  if (how["weight_block_size"].size() > 0) return true;
  for (const auto& [name, group] : how["config_groups"].members()) {
    if (group["weights"]["strategy"].as_string() == "block") return true;
  }
  return false;
}

// Whether the modules left wide include those with `part` in their names in most layers.
bool left_wide(const Json& how, std::string_view part, unsigned layers) {
  unsigned named = 0;
  for (const char* key :
       {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"}) {
    for (const Json& item : how[key].items()) {
      const std::string_view module = item.as_string();
      if (module.find(part) == std::string_view::npos) continue;
      const bool every = module.find_first_of("0123456789") == std::string_view::npos ||
                         module.find('*') != std::string_view::npos || module.starts_with("re:");
      if (every) return true;
      ++named;
    }
  }
  return named > 0 && named >= layers / 2;
}

void read_formats(ConfigFields& at, ModelSpec& out) {
  const Json* how = &at.value("quantization_config");
  if (how->is_null()) how = &at.value("compression_config");
  if (how->is_null()) how = &at.value("quantization");
  out.checkpoint_precision = quantised_to(*how);
  if (out.mla) out.attention_precision_under_fp4 = "fp8";
  if (out.checkpoint_precision.empty()) {
    out.checkpoint_precision = "bf16";
    return;
  }
  out.fp8_blocks = out.checkpoint_precision == "fp8" && in_blocks(*how);
  const unsigned full = out.attention_layers();
  const double full_weights = full * out.attention_weights();
  const double linear_weights = out.linear_layers * out.linear_weights();
  const double wide = (left_wide(*how, "self_attn", full) ? full_weights : 0) +
                      (left_wide(*how, "linear_attn", out.linear_layers) ? linear_weights : 0);
  if (wide > 0.5 * (full_weights + linear_weights)) out.attention_precision = "bf16";
}

void refuse_unmodelled(ConfigFields& at) {
  if (at.flag("is_encoder_decoder")) {
    at.fail("is_encoder_decoder", "an encoder with a decoder is not modelled");
  }
  if (!at.value("block_configs").is_null()) {
    at.fail("block_configs", "layers of different widths are not modelled");
  }
  const std::string_view first = at.value("architectures")[0].as_string();
  if (first.find("ForMaskedLM") != std::string_view::npos ||
      first.find("ForSequenceClassification") != std::string_view::npos) {
    at.fail("architectures", format("{} generates no tokens", first));
  }
}

std::string name_of(const std::filesystem::path& path) {
  std::string out = path.stem().string();
  for (const std::string_view end : {"_config", "-config", ".config"}) {
    if (out.ends_with(end)) out.resize(out.size() - end.size());
  }
  if (out == "config") {
    out = std::filesystem::absolute(path).parent_path().filename().string();
  }
  if (const auto at = out.find("--"); at != std::string::npos) out = out.substr(at + 2);
  return lower(out);
}

}  // namespace

Result<ModelSpec> read_model_config(const Json& config, const std::string& name,
                                    const std::string& where) {
  ConfigFields at(config, where);
  ModelSpec out;
  out.name = name;
  out.title = format("{} ({})", name, at.text("model_type"));
  refuse_unmodelled(at);
  out.layers = at.need({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  out.hidden = at.need({"hidden_size", "n_embd", "n_embed", "d_model", "dim"});
  out.vocabulary = at.need({"vocab_size", "padded_vocab_size"});
  const Kinds kinds = config_attention(at, out);
  read_feed_forward(at, kinds, out);
  out.tied_embeddings = at.flag("tie_word_embeddings");
  out.mtp_layers = at.count({"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules",
                             "num_mtp_layers", "mtp_num_layers"})
                       .value_or(0);
  out.architecture = out.experts == 0 ? "dense" : out.mla ? "moe_mla" : "moe";
  read_formats(at, out);
  TRY(at.done());
  out.assumed = at.assumed();
  if (const std::string wrong = shape_mistake(out); !wrong.empty()) {
    return invalid(format("{}: {}", where, wrong));
  }
  return out;
}

bool is_model_config_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || lower(name).ends_with(".json");
}

Result<ModelSpec> read_model_config_file(const std::filesystem::path& path) {
  std::error_code code;
  const bool folder = std::filesystem::is_directory(path, code);
  const std::filesystem::path file = folder ? path / "config.json" : path;
  ASSIGN_OR_RETURN(Json config, read_json_file(file));
  if (!config.is_object()) return invalid(format("{}: is not an object", file.string()));
  const std::filesystem::path beside = file.parent_path() / "hf_quant_config.json";
  if (config["quantization_config"].is_null() && std::filesystem::exists(beside, code)) {
    ASSIGN_OR_RETURN(const Json formats, read_json_file(beside));
    config.set("quantization_config", formats["quantization"]);
  }
  return read_model_config(config, name_of(file), file.string());
}

bool same_layers(const ModelSpec& a, const ModelSpec& b) {
  const auto layers = [](const ModelSpec& m) {
    const unsigned inner = m.ffn_layers() > 0 ? m.ffn_inner : 0;
    return std::vector<unsigned>{
        m.layers,       m.hidden,  m.heads,          m.kv_heads,       m.head_dim,    m.value_dim,
        m.q_rank,       m.kv_rank, m.linear_layers,  m.sliding_layers, m.sparse_top,  inner,
        m.ffn_layers(), m.experts, m.experts_active, m.expert_inner,   m.shared_inner};
  };
  return !a.is_stages() && !b.is_stages() && layers(a) == layers(b);
}

bool same_shape(const ModelSpec& a, const ModelSpec& b) {
  return a.vocabulary == b.vocabulary && same_layers(a, b);
}

}  // namespace assay::sim
