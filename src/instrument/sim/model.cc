#include "sim/model.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {

Result<Precision> parse_precision(std::string_view word) {
  if (word == "bf16" || word == "fp16") return Precision::bf16;
  if (word == "fp8") return Precision::fp8;
  if (word == "nvfp4" || word == "fp4") return Precision::nvfp4;
  if (word == "mxfp4") return Precision::mxfp4;
  if (word == "int4") return Precision::int4;
  return invalid(
      format("precision: unknown value '{}'; one of: bf16, fp8, nvfp4, mxfp4, int4", word));
}

std::string_view to_string(Precision precision) { return enum_name(precision); }

double weight_bytes(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return 2.0;
    case Precision::fp8:
      return 1.0;
    case Precision::nvfp4:
      return 0.5625;
    case Precision::mxfp4:
      return 0.53;
    case Precision::int4:
      return 0.52;
  }
  return 2.0;
}

std::string compute_format(Precision precision) {
  switch (precision) {
    case Precision::bf16:
    case Precision::int4:
      return "bf16";
    case Precision::fp8:
      return "fp8";
    case Precision::nvfp4:
    case Precision::mxfp4:
      return "fp4";
  }
  return "bf16";
}

double ModelSpec::attention_weights() const {
  const double h = hidden;
  const double query = q_rank > 0 ? q_rank : h;
  const double indexer =
      sparse_top > 0 ? query * sparse_heads * sparse_dim + h * (sparse_dim + sparse_heads) : 0;
  if (!mla) {
    const double gate = output_gate ? h * heads * head_dim : 0;
    return h * (heads + kv_heads) * (head_dim + value_dim) + gate + indexer;
  }
  const double per_head = nope_dim + rope_dim;
  return (q_rank > 0 ? h * q_rank : 0) + query * heads * per_head + h * (kv_rank + rope_dim) +
         double{1} * kv_rank * heads * (nope_dim + value_dim) + double{1} * heads * value_dim * h +
         indexer;
}

double ModelSpec::linear_weights() const {
  const double keys = double{1} * linear_key_heads * linear_key_dim;
  const double values = double{1} * linear_value_heads * linear_value_dim;
  return double{1} * hidden * (2 * keys + 3 * values + 2.0 * linear_value_heads);
}

double ModelSpec::mixer_weights() const {
  return attention_layers() * attention_weights() + linear_layers * linear_weights();
}

double ModelSpec::ffn_weights() const { return double{1} * ffn_matrices * hidden * ffn_inner; }
double ModelSpec::expert_weights() const {
  return double{1} * expert_matrices * hidden * expert_inner;
}
double ModelSpec::shared_weights() const {
  return double{1} * expert_matrices * hidden * shared_inner;
}
double ModelSpec::head_weights() const { return double{1} * vocabulary * hidden; }

double ModelSpec::total_weights() const {
  return mixer_weights() + ffn_layers() * ffn_weights() +
         moe_layers() * (experts * expert_weights() + shared_weights() + 1.0 * hidden * experts) +
         (tied_embeddings ? 1 : 2) * head_weights();
}

double ModelSpec::active_weights() const {
  return mixer_weights() + ffn_layers() * ffn_weights() +
         moe_layers() * (experts_active * expert_weights() + shared_weights()) + head_weights();
}

double ModelSpec::kv_elements_growing(unsigned tp) const {
  if (mla) return double{1} * (kv_rank + rope_dim) * attention_layers();
  const double per_rank = std::max(1.0, double{1} * kv_heads / tp);
  return per_rank * (head_dim + value_dim) * (attention_layers() - sliding_layers);
}

double ModelSpec::kv_elements_window(unsigned tp) const {
  if (mla || sliding_layers == 0) return 0;
  return std::max(1.0, double{1} * kv_heads / tp) * (head_dim + value_dim) * sliding_layers;
}

double ModelSpec::index_elements() const {
  return sparse_top > 0 ? double{1} * sparse_dim * attention_layers() : 0;
}

double ModelSpec::state_elements(unsigned tp) const {
  const double heads_here = std::max(1.0, double{1} * linear_value_heads / tp);
  return linear_layers * heads_here * linear_value_dim * linear_key_dim;
}

Precision ModelSpec::attention_dtype(Precision weights) const {
  const bool four_bit = weights == Precision::nvfp4 || weights == Precision::mxfp4;
  std::string word = attention_precision;
  if (word.empty() && four_bit) word = attention_precision_under_fp4;
  if (word.empty()) return weights;
  const auto parsed = parse_precision(word);
  return parsed ? *parsed : weights;
}

unsigned ModelSpec::norm_layers() const {
  return (query_key_norm ? attention_layers() : 0) + linear_layers;
}

bool ModelSpec::requantises(Precision weights) const {
  return weights == Precision::nvfp4 || (weights == Precision::fp8 && fp8_blocks);
}

namespace {

void read_attention(Fields& top, ModelSpec& out) {
  Fields at = top.map("attention");
  out.mla = at.choice("kind", {"gqa", "mla"}) == 1;
  out.heads = at.count("heads");
  if (out.mla) {
    out.q_rank = at.count("q_rank");
    out.kv_rank = at.count("kv_rank");
    out.nope_dim = at.count("nope_dim");
    out.rope_dim = at.count("rope_dim");
    out.value_dim = at.count("value_dim");
    if (out.heads == 0 || out.kv_rank == 0) at.fail("heads and kv_rank must be above 0");
  } else {
    out.kv_heads = at.count("kv_heads");
    out.head_dim = at.count("head_dim");
    out.value_dim = at.count("value_dim", out.head_dim);
    out.output_gate = at.flag("output_gate", false);
    out.norm_across_heads = at.flag("norm_across_heads", false);
    out.query_key_norm = at.flag("query_key_norm", out.norm_across_heads);
    out.sliding_layers = at.count("sliding_layers", 0U);
    out.sliding_window = at.count("sliding_window", 0U);
    if (out.heads == 0 || out.kv_heads == 0 || out.head_dim == 0) {
      at.fail("heads, kv_heads and head_dim must be above 0");
    }
  }
  Fields sparse = at.map("sparse", false);
  if (at.has("sparse")) {
    out.sparse_top = sparse.count("top");
    out.sparse_heads = sparse.count("heads");
    out.sparse_dim = sparse.count("dim");
  }
  at.absorb(sparse);
  top.absorb(at);
}

void read_linear(Fields& top, ModelSpec& out) {
  Fields at = top.map("linear_attention", false);
  if (top.has("linear_attention")) {
    out.linear_layers = at.count("layers");
    out.linear_key_heads = at.count("key_heads");
    out.linear_key_dim = at.count("key_dim");
    out.linear_value_heads = at.count("value_heads");
    out.linear_value_dim = at.count("value_dim");
  }
  top.absorb(at);
  out.layers_without_attention = top.count("layers_without_attention", 0U);
  out.layers_without_ffn = top.count("layers_without_ffn", 0U);
}

void read_experts(Fields& top, ModelSpec& out) {
  Fields ffn = top.map("feed_forward", !top.has("experts"));
  out.ffn_inner = ffn.count("inner", 0U);
  out.ffn_matrices = ffn.count("matrices", 3U);
  out.dense_layers = ffn.count("dense_layers", 0U);
  top.absorb(ffn);
  Fields moe = top.map("experts", false);
  if (top.has("experts")) {
    out.experts = moe.count("count");
    out.experts_active = moe.count("active");
    out.expert_inner = moe.count("inner");
    out.experts_shared = moe.count("shared", 0U);
    out.shared_inner = moe.count("shared_inner", out.experts_shared * out.expert_inner);
    out.expert_matrices = moe.count("matrices", 3U);
    moe.count("groups", 1U);
    moe.count("groups_active", 1U);
    if (out.experts == 0 || out.experts_active == 0 || out.experts_active > out.experts) {
      moe.fail("needs count >= active >= 1");
    }
  }
  top.absorb(moe);
}

void read_stages(Fields& top, ModelSpec& out) {
  out.batch = std::max(1U, top.count("batch", 1U));
  for (const Json& item : top.value("stages").items()) {
    Fields at(item, top.where("stages"));
    StageSpec stage;
    stage.name = at.text("name");
    stage.seconds = at.number("seconds", 0.0);
    stage.flops = at.number("flops", 0.0);
    stage.efficiency = at.number("efficiency", 1.0, 0.001);
    stage.cv = at.number("cv", 0.0);
    stage.latency_only = at.flag("latency_only", false);
    stage.every_gpu = at.text("servers", std::string("1")) == "gpus";
    stage.all_gpus_together = at.text("gpus", std::string("one")) == "all";
    if (stage.seconds <= 0 && stage.flops <= 0) at.fail("needs seconds or flops above 0");
    top.absorb(at);
    out.stages.push_back(std::move(stage));
  }
  out.resident_bytes = top.number("resident_bytes", 0.0);
}

}  // namespace

std::string shape_mistake(const ModelSpec& m) {
  if (m.layers == 0 || m.hidden == 0) return "layers and hidden must be above 0";
  if (m.vocabulary == 0) return "vocabulary must be above 0";
  if (m.experts > 0 && m.expert_inner == 0) return "the width of an expert must be above 0";
  if (m.dense_layers > m.layers) return "more dense layers than layers";
  if (m.linear_layers + m.layers_without_attention + m.sliding_layers > m.layers) {
    return "more layers of other attention than layers";
  }
  if (m.dense_layers + m.layers_without_ffn > m.layers) return "more layers than there are";
  if (m.layers > 100'000 || m.hidden > 10'000'000 || m.heads > 100'000) {
    return "layers, hidden or heads is beyond any model";
  }
  return {};
}

Result<ModelSpec> read_model(const Json& file, const std::string& where) {
  Fields top(file, where);
  top.text("kind");
  ModelSpec out;
  out.name = top.text("name");
  out.title = top.text("title", out.name);
  out.aliases = top.texts("aliases");
  const std::vector<std::string_view> kinds = {"dense", "moe", "moe_mla", "stages"};
  out.architecture = kinds[top.choice("architecture", kinds)];
  if (out.architecture == "stages") {
    read_stages(top, out);
    top.value("sources");
    TRY(top.done());
    if (out.stages.empty()) return invalid(format("{}: 'stages' is missing", where));
    return out;
  }
  out.layers = top.count("layers");
  out.hidden = top.count("hidden");
  out.vocabulary = top.count("vocabulary");
  read_attention(top, out);
  read_linear(top, out);
  read_experts(top, out);
  out.tied_embeddings = top.flag("tied_embeddings", false);
  Fields precision = top.map("precision", false);
  out.attention_precision = precision.text("attention", std::string());
  out.attention_precision_under_fp4 = precision.text("attention_under_fp4", std::string());
  out.checkpoint_precision = precision.text("checkpoint", std::string());
  out.fp8_blocks = precision.flag("fp8_blocks", false);
  top.absorb(precision);
  out.mtp_layers = top.count("mtp_layers", 0U);
  top.value("vision");
  if (const auto wrong = shape_mistake(out); !wrong.empty()) top.fail(wrong);
  Fields sources = top.map("sources");
  sources.text("architecture");
  top.absorb(sources);
  TRY(top.done());
  return out;
}

}  // namespace assay::sim
