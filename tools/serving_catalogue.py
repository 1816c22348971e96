"""The catalogue's models and cards, as the fitting tool needs them.

Read from catalogue/*.yaml, so that a figure stands in one place; the formulas are those of
src/instrument/sim/model.cc and deployment.cc. For development only; needs PyYAML.
"""

import functools
import pathlib

import yaml

CATALOGUE = pathlib.Path(__file__).resolve().parent.parent / "catalogue"
BYTES = {"bf16": 2.0, "fp8": 1.0, "nvfp4": 0.5625, "mxfp4": 0.53, "int4": 0.52}
FORMAT = {"bf16": "bf16", "fp8": "fp8", "nvfp4": "fp4", "mxfp4": "fp4", "int4": "bf16"}
STATE_BYTES = 2
# Names of the tables of measured points.
NAMES = {"l70": "llama3.1-70b", "gptoss": "gpt-oss-120b", "dsr1": "deepseek-r1",
         "q32": "qwen3-32b", "trtllm": "tensorrt-llm"}


def read(kind, name):
    with open(CATALOGUE / kind / f"{name}.yaml", encoding="utf-8") as text:
        return yaml.safe_load(text)


@functools.cache
def card(name):
    """A table writes h100_sxm where the catalogue writes h100-sxm."""
    spec = read("hardware", name.replace("_", "-"))
    return {"generation": spec["generation"], "memory": float(spec["memory_bytes"]),
            "bandwidth": float(spec["memory_bytes_per_s"]),
            "rates": {word: float(rate) for word, rate in spec["flops"].items()},
            "link": float(spec["scale_up"]["bytes_per_s"])}


def rate(card_name, precision):
    rates = card(card_name)["rates"]
    return rates.get(FORMAT[precision], rates["bf16"])


class Model:
    """The shape of a model: the fields of sim::ModelSpec that a fit needs."""

    def __init__(self, spec):
        attention, experts = spec["attention"], spec.get("experts", {})
        linear, ffn = spec.get("linear_attention", {}), spec.get("feed_forward", {})
        precision = spec.get("precision", {})
        self.name, self.architecture = spec["name"], spec["architecture"]
        self.layers, self.hidden = spec["layers"], spec["hidden"]
        self.vocabulary = spec["vocabulary"]
        self.attention_fixed = precision.get("attention")
        self.attention_under_fp4 = precision.get("attention_under_fp4")
        self.mla = attention["kind"] == "mla"
        self.heads, self.kv_heads = attention["heads"], attention.get("kv_heads", 0)
        self.norm_across_heads = attention.get("norm_across_heads", False)
        self.query_key_norm = attention.get("query_key_norm", self.norm_across_heads)
        self.fp8_blocks = precision.get("fp8_blocks", False)
        self.sliding = attention.get("sliding_layers", 0)
        self.window = attention.get("sliding_window", 0)
        self.linear_layers = linear.get("layers", 0)
        self.attention_layers = self.layers - self.linear_layers
        self.norm_layers = self.linear_layers + (
            self.attention_layers if self.query_key_norm else 0)
        h = self.hidden
        if self.mla:
            q, kv = attention["q_rank"], attention["kv_rank"]
            nope, rope = attention["nope_dim"], attention["rope_dim"]
            value = attention["value_dim"]
            self.kv_width, self.qk = kv + rope, nope + rope + value
            self.absorbed = 2 * kv + rope
            one = (h * q + q * self.heads * (nope + rope) + h * (kv + rope)
                   + kv * self.heads * (nope + value) + self.heads * value * h)
        else:
            dim = attention["head_dim"]
            value = attention.get("value_dim", dim)
            self.kv_width, self.qk, self.absorbed = dim + value, dim + value, 0
            gate = h * self.heads * dim if attention.get("output_gate") else 0
            one = h * (self.heads + self.kv_heads) * (dim + value) + gate
        keys = linear.get("key_heads", 0) * linear.get("key_dim", 0)
        values = linear.get("value_heads", 0) * linear.get("value_dim", 0)
        self.state_heads = linear.get("value_heads", 0)
        self.state = linear.get("value_dim", 0) * linear.get("key_dim", 0)
        self.mixers = self.attention_layers * one + self.linear_layers * h * (
            2 * keys + 3 * values + 2 * self.state_heads)
        self.experts, self.active = experts.get("count", 0), experts.get("active", 0)
        self.dense = ffn.get("dense_layers", 0) if self.experts else self.layers
        self.ffn = ffn.get("matrices", 3) * h * ffn.get("inner", 0)
        self.moe_layers = self.layers - self.dense if self.experts else 0
        inner = experts.get("inner", 0)
        self.expert_inner = inner
        self.expert = experts.get("matrices", 3) * h * inner
        self.shared = experts.get("matrices", 3) * h * experts.get(
            "shared_inner", experts.get("shared", 0) * inner)
        self.head = self.vocabulary * h
        self.heads_stored = 1 if spec.get("tied_embeddings") else 2

    def kv_elements(self, tp):
        """Of one token in the layers whose KV grows with the context."""
        if self.mla:
            return self.kv_width * self.attention_layers
        return max(1, self.kv_heads / tp) * self.kv_width * (self.attention_layers - self.sliding)

    def kv_elements_window(self, tp):
        return 0 if self.mla else max(1, self.kv_heads / tp) * self.kv_width * self.sliding

    def state_elements(self, tp):
        return self.linear_layers * max(1, self.state_heads / tp) * self.state

    def attention_format(self, precision):
        under = self.attention_under_fp4 if FORMAT[precision] == "fp4" else None
        return self.attention_fixed or under or precision

    def requantised_layers(self, precision):
        """Layers whose activations are quantised anew, by a kernel of its own."""
        anew = precision == "nvfp4" or (precision == "fp8" and self.fp8_blocks)
        return self.layers if anew else 0

    def weight_bytes(self, precision, tp, moe_tp, ep):
        """On one accelerator."""
        b, ba = BYTES[precision], BYTES[self.attention_format(precision)]
        dense = self.dense * self.ffn * (ba if self.experts else b)
        return ((self.mixers * ba + dense + self.moe_layers * self.shared * b
                 + self.heads_stored * 2 * self.head) / tp
                + self.moe_layers * self.experts * self.expert * b / (moe_tp * ep))


@functools.cache
def model(name):
    return Model(read("models", NAMES.get(name, name)))
