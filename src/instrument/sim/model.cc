#include "sim/model.h"

#include <algorithm>

#include "base/format.h"
#include "sim/fields.h"

namespace assay::sim {

Result<Precision> parse_precision(std::string_view word) {
  if (word == "bf16" || word == "fp16") return Precision::bf16;
  if (word == "fp8") return Precision::fp8;
  if (word == "nvfp4" || word == "fp4") return Precision::nvfp4;
  if (word == "mxfp4") return Precision::mxfp4;
  return invalid(format("precision: unknown value '{}'; one of: bf16, fp8, nvfp4, mxfp4", word));
}

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
    case Precision::nvfp4:
      return "nvfp4";
    case Precision::mxfp4:
      return "mxfp4";
  }
  return "bf16";
}

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
  }
  return 2.0;
}

std::string compute_format(Precision precision) {
  switch (precision) {
    case Precision::bf16:
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
  if (!mla) return 2.0 * h * heads * head_dim + 2.0 * h * kv_heads * head_dim;
  const double per_head = nope_dim + rope_dim;
  return h * q_rank + double{1} * q_rank * heads * per_head + h * (kv_rank + rope_dim) +
         double{1} * kv_rank * heads * (nope_dim + value_dim) + double{1} * heads * value_dim * h;
}

double ModelSpec::ffn_weights() const { return double{1} * ffn_matrices * hidden * ffn_inner; }
double ModelSpec::expert_weights() const { return 3.0 * hidden * expert_inner; }
double ModelSpec::head_weights() const { return double{1} * vocabulary * hidden; }

double ModelSpec::total_weights() const {
  const double dense = experts > 0 ? dense_layers : layers;
  return layers * attention_weights() + dense * ffn_weights() +
         moe_layers() * ((experts + experts_shared) * expert_weights() + 1.0 * hidden * experts) +
         2 * head_weights();
}

double ModelSpec::active_weights() const {
  const double dense = experts > 0 ? dense_layers : layers;
  return layers * attention_weights() + dense * ffn_weights() +
         moe_layers() * (experts_active + experts_shared) * expert_weights() + head_weights();
}

double ModelSpec::kv_elements_growing(unsigned tp) const {
  if (mla) return double{1} * (kv_rank + rope_dim) * layers;
  const double per_rank = std::max(1.0, double{1} * kv_heads / tp);
  return 2.0 * per_rank * head_dim * (layers - sliding_layers);
}

double ModelSpec::kv_elements_window(unsigned tp) const {
  if (mla || sliding_layers == 0) return 0;
  return 2.0 * std::max(1.0, double{1} * kv_heads / tp) * head_dim * sliding_layers;
}

Precision ModelSpec::attention_dtype(Precision weights) const {
  const bool four_bit = weights == Precision::nvfp4 || weights == Precision::mxfp4;
  std::string word = attention_precision;
  if (word.empty() && four_bit) word = attention_precision_under_fp4;
  if (word.empty()) return weights;
  const auto parsed = parse_precision(word);
  return parsed ? *parsed : weights;
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
  } else {
    out.kv_heads = at.count("kv_heads");
    out.head_dim = at.count("head_dim");
    out.sliding_layers = at.count("sliding_layers", 0U);
    out.sliding_window = at.count("sliding_window", 0U);
    if (out.heads == 0 || out.kv_heads == 0 || out.head_dim == 0) {
      at.fail("heads, kv_heads and head_dim must be above 0");
    }
  }
  top.absorb(at);
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
    moe.count("groups", 1U);
    moe.count("groups_active", 1U);
    if (out.experts == 0 || out.experts_active == 0 || out.experts_active > out.experts) {
      moe.fail("needs count >= active >= 1");
    }
  }
  top.absorb(moe);
  if (out.dense_layers > out.layers) top.fail("more dense layers than layers");
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
  read_experts(top, out);
  Fields precision = top.map("precision", false);
  out.attention_precision = precision.text("attention", std::string());
  out.attention_precision_under_fp4 = precision.text("attention_under_fp4", std::string());
  top.absorb(precision);
  out.mtp_layers = top.count("mtp_layers", 0U);
  top.value("vision");
  if (out.layers == 0 || out.hidden == 0) top.fail("layers and hidden must be above 0");
  Fields sources = top.map("sources");
  sources.text("architecture");
  top.absorb(sources);
  TRY(top.done());
  return out;
}

}  // namespace assay::sim
