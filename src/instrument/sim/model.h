// ModelSpec: the properties of a model that decide the cost of a token: layers, attention,
// feed-forward, experts. The tables are catalogue/models/*.yaml.
//
// Parameter counts are computed here from the shape (each formula beside its function), so that a
// user who adds a model writes only the figures of its config.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::sim {

// int4: 4 bit weights that are widened and multiplied in BF16 (AWQ, GPTQ).
enum class Precision { bf16, fp8, nvfp4, mxfp4, int4 };
Result<Precision> parse_precision(std::string_view word);
std::string_view to_string(Precision precision);
// Bytes of one weight with block scales: 2, 1, 4 bit + an FP8 scale per 16, + one per 32, + a
// BF16 scale and a 4 bit zero point per 128.
double weight_bytes(Precision precision);
// The tensor-core format that multiplies it: bf16, fp8, fp4.
std::string compute_format(Precision precision);

// Bytes of one element of a state of linear attention: BF16, as the measured recipes say.
inline constexpr double kStateBytes = 2;

// A pipeline of timed stages, for models that are not autoregressive (sim/stages.h).
struct StageSpec {
  std::string name{};
  double seconds = 0;     // of one batch, or
  double flops = 0;       // of one query: the hardware gives the time
  double efficiency = 1;  // of the hardware's FP8 (or BF16) rate, where flops are given
  double cv = 0;          // lognormal spread of the service time
  bool latency_only = false;
  bool every_gpu = false;          // one server a GPU; else one server in all
  bool all_gpus_together = false;  // the one server's speed is that of all GPUs
};

struct ModelSpec {
  std::string name{};
  std::string title{};
  std::vector<std::string> aliases{};
  std::vector<std::string> assumed{};  // of its family, where its config.json is silent
  std::string architecture{};          // dense, moe, moe_mla, stages: calibration groups by it
  unsigned layers = 0;
  unsigned hidden = 0;
  unsigned vocabulary = 0;
  // Attention. GQA: heads, kv_heads, head_dim (and value_dim, where values differ). MLA: heads and
  // the ranks; without q_rank the query's projection is whole.
  bool mla = false;
  unsigned heads = 0;
  unsigned kv_heads = 0;
  unsigned head_dim = 0;
  unsigned q_rank = 0;
  unsigned kv_rank = 0;
  unsigned nope_dim = 0;
  unsigned rope_dim = 0;
  unsigned value_dim = 0;
  unsigned sliding_layers = 0;
  unsigned sliding_window = 0;
  bool output_gate = false;  // the query's projection is twice as wide
  // Queries and keys are normalised over all heads together, which tensor-parallel ranks have to
  // agree on.
  bool norm_across_heads = false;
  bool query_key_norm = false;  // queries and keys are normalised, each head or all together
  // Sparse attention: an indexer reads one key of each earlier token, and attention only the best.
  unsigned sparse_top = 0;
  unsigned sparse_heads = 0;
  unsigned sparse_dim = 0;
  // Linear attention, in `linear_layers` layers: a state of fixed size instead of KV (gated delta
  // net, Mamba 2, lightning attention). Keys and values of Mamba: groups of its state, and heads.
  unsigned linear_layers = 0;
  unsigned linear_key_heads = 0;
  unsigned linear_key_dim = 0;
  unsigned linear_value_heads = 0;
  unsigned linear_value_dim = 0;
  // Layers of a hybrid that have no attention of either kind, or no feed-forward.
  unsigned layers_without_attention = 0;
  unsigned layers_without_ffn = 0;
  // Feed-forward of dense layers; in a mixture, only of its first `dense_layers`.
  unsigned ffn_inner = 0;
  unsigned ffn_matrices = 3;
  unsigned dense_layers = 0;
  unsigned experts = 0;
  unsigned experts_active = 0;
  unsigned expert_inner = 0;
  unsigned experts_shared = 0;
  unsigned shared_inner = 0;  // of all shared experts together
  unsigned expert_matrices = 3;
  bool tied_embeddings = false;                 // the head is the embedding
  std::string checkpoint_precision{};           // of the published weights; "": unknown
  std::string attention_precision{};            // fixed by the checkpoint; "" follows the weights
  std::string attention_precision_under_fp4{};  // when the experts are FP4
  bool fp8_blocks = false;  // in FP8 scales are of blocks, so those of activations of each token
  unsigned mtp_layers = 0;
  std::vector<StageSpec> stages{};
  unsigned batch = 1;
  double resident_bytes = 0;

  bool is_stages() const { return !stages.empty(); }
  unsigned moe_layers() const {
    return experts > 0 ? layers - dense_layers - layers_without_ffn : 0;
  }
  unsigned ffn_layers() const { return experts > 0 ? dense_layers : layers - layers_without_ffn; }
  unsigned attention_layers() const { return layers - linear_layers - layers_without_attention; }
  // Weights of one layer. GQA: h H (d + v) + h kv (d + v), with an output gate h H d more. MLA: q
  // down and up, kv down and up, output. Both: the indexer's, where attention is sparse.
  double attention_weights() const;
  // A layer of linear attention: h (2 K + 3 V + 2 heads), K and V the widths of keys and values.
  double linear_weights() const;
  double mixer_weights() const;   // all layers' attention of both kinds
  double ffn_weights() const;     // a dense layer's
  double expert_weights() const;  // one expert's
  double shared_weights() const;  // of a layer's shared experts together
  double head_weights() const;    // vocabulary x hidden
  double total_weights() const;
  double active_weights() const;
  // KV elements that one token adds on one rank, in the layers that grow with context; then all.
  double kv_elements_growing(unsigned tp) const;
  double kv_elements_window(unsigned tp) const;  // of the sliding layers, per token in the window
  double index_elements() const;                 // keys of the indexers, which no rank splits
  double state_elements(unsigned tp) const;      // of linear attention, for each sequence
  Precision attention_dtype(Precision weights) const;
  // Layers whose attention normalises its own heads; linear attention always does.
  unsigned norm_layers() const;
  // Whether each product's activations are quantised anew, by a kernel of its own.
  bool requantises(Precision weights) const;
};

// What contradicts itself in a language model's shape; "" if nothing does.
std::string shape_mistake(const ModelSpec& model);

Result<ModelSpec> read_model(const Json& file, const std::string& where);

}  // namespace assay::sim
