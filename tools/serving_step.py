"""The step-time model of src/instrument/sim/step_model.cc, over many batches at once (numpy).

Only tools/calibrate_serving_model.py uses it; its `check` compares the outcome with the binary.
"""

import numpy as np

from serving_catalogue import BYTES, STATE_BYTES, card, model, rate


def kv_element_bytes(p):
    """The rules of catalogue/backends."""
    if p["backend"] == "sglang" and p["m"].startswith("qwen3.5"):
        return 1
    return 2 if p["precision"] == "bf16" else 1


def soft_max(x, y):
    return np.cbrt(x**3 + y**3)


class Points:
    """All batches of some points as flat arrays; what does not depend on constants is done once."""

    def __init__(self, points):
        self.count = len(points)
        self.index = np.repeat(np.arange(self.count), [len(p["batches"]) for p in points])
        columns = np.concatenate([np.asarray(p["batches"], float) for p in points]).T
        (self.sequences, self.rank_sequences, context, self.all_prompts, self.prompts, work, _,
         self.tpot_weight, self.ttft_weight) = columns
        self.output = np.array([p["output"] for p in points], float)
        self.point_drafts = np.array([p["drafts"] for p in points])
        self.shape(points)
        self.load(context, work)

    def each(self, points, value):
        return np.array([float(value(p)) for p in points])[self.index]

    def shape(self, points):
        def of_model(value):
            return self.each(points, lambda p: value(model(p["m"])))

        def attention(p):
            return model(p["m"]).attention_format(p["precision"])
        for name in ("tp", "dp", "ep", "moe_tp", "drafts"):
            setattr(self, name, self.each(points, lambda p, n=name: p[n]))
        for name in ("layers", "hidden", "heads", "mla", "mixers", "experts", "active", "ffn",
                     "expert", "moe_layers", "shared", "head", "qk", "sliding", "window",
                     "absorbed", "attention_layers", "dense", "expert_inner", "linear_layers",
                     "norm_across_heads", "norm_layers"):
            setattr(self, name, of_model(lambda m, n=name: getattr(m, n)))
        self.eager = self.each(points, lambda p: p["backend"] != "vllm")  # prompt_graphs
        self.requantised = self.each(
            points, lambda p: model(p["m"]).requantised_layers(p["precision"]))
        self.bandwidth = self.each(points, lambda p: card(p["card"])["bandwidth"])
        self.link = self.each(points, lambda p: card(p["card"])["link"])
        self.bf16 = self.each(points, lambda p: rate(p["card"], "bf16"))
        self.attention_bytes = self.each(points, lambda p: BYTES[attention(p)])
        self.attention_rate = self.each(points, lambda p: rate(p["card"], attention(p)))
        self.weight_bytes = self.each(points, lambda p: BYTES[p["precision"]])
        self.rate = self.each(points, lambda p: rate(p["card"], p["precision"]))
        is_moe = self.experts > 0
        self.ffn_bytes = np.where(is_moe, self.attention_bytes, self.weight_bytes)
        self.ffn_rate = np.where(is_moe, self.attention_rate, self.rate)
        self.kv_bytes = self.each(
            points, lambda p: kv_element_bytes(p) * model(p["m"]).kv_elements(p["tp"]))
        self.kv_window = self.each(
            points, lambda p: kv_element_bytes(p) * model(p["m"]).kv_elements_window(p["tp"]))
        self.state = self.each(points, lambda p: model(p["m"]).state_elements(p["tp"]))

    def load(self, context, work):
        self.prefilling = (self.all_prompts > 0) * 1.0
        self.tokens = self.rank_sequences * (1 + self.drafts) + self.prompts
        self.all_tokens = self.sequences * (1 + self.drafts) + self.all_prompts
        self.kv_read = (self.kv_bytes * context + self.kv_window * np.minimum(
            context, self.rank_sequences * self.window))
        self.state_read = 2 * self.state * STATE_BYTES * self.rank_sequences
        self.mla_flops = (self.mla * 2 * (1 + self.drafts) * context * self.heads / self.tp
                          * self.absorbed * self.attention_layers)
        full = self.attention_layers - self.sliding
        self.prefill_flops = 2 * self.heads / self.tp * self.qk * (
            work * full + self.sliding * np.minimum(work, self.prompts * self.window)
        ) + 6 * self.state * self.prompts
        self.expert_flops = (2 * self.expert / self.moe_tp * self.all_tokens * self.active / self.ep
                             * self.moe_layers)
        several = self.tp > 1
        self.reduces = np.where(several, (2 + self.norm_across_heads) * self.layers, 0)
        self.reduce_s = np.where(several, 2 * self.layers * 4 * self.tokens * self.hidden
                                 * (self.tp - 1) / self.tp / self.link, 0)
        exchange = (self.experts > 0) & ((self.dp > 1) | ((self.ep > 1) & (self.tp == 1)))
        remote = self.ep * (1 - (1 - 1 / self.ep)**np.maximum(self.active, 1)) * (1 - 1 / self.ep)
        self.exchanges = exchange * self.moe_layers
        self.exchange_s = self.exchanges * self.tokens * remote * self.hidden * 3 / self.link
        self.head_tokens = self.rank_sequences * (1 + self.drafts) + self.prefilling

    def linear(self, weights, width, rate_of, tokens, bandwidth, compute):
        return soft_max(weights * width / (bandwidth * self.bandwidth),
                        2 * weights * tokens / (compute * rate_of))

    def seconds(self, constants):
        def c(name):
            return constants[name][self.index]
        bandwidth = c("weight_bandwidth")
        t = self.linear(self.mixers / self.tp, self.attention_bytes,
                        self.attention_rate, self.tokens, bandwidth, c("attention_compute"))
        t += self.linear(self.dense * self.ffn / self.tp, self.ffn_bytes, self.ffn_rate,
                         self.tokens, bandwidth, c("compute"))
        t += self.linear(self.moe_layers * self.shared / self.tp, self.weight_bytes,
                         self.rate, self.tokens, bandwidth, c("compute"))
        t += soft_max(self.kv_read / (c("kv_bandwidth") * self.bandwidth),
                      self.mla_flops / (c("mla_compute") * self.bf16))
        t += self.state_read / (c("kv_bandwidth") * self.bandwidth)
        t += self.prefill_flops / (c("prefill_attention") * self.bf16)
        distinct = self.sequences * (1 + self.drafts * c("draft_coverage")) + self.all_prompts
        touched = self.experts * (1 - (1 - self.active / np.maximum(self.experts, 1))**distinct)
        width = np.maximum(1, self.expert_inner) / self.moe_tp
        thin = c("expert_bandwidth") / (1 + c("expert_thin_columns") / width)
        stream = (touched / self.ep * self.expert / self.moe_tp * self.weight_bytes
                  * self.moe_layers / (thin * self.bandwidth))
        pairs = self.all_tokens * self.active / self.ep * self.moe_layers
        flow = self.expert_flops / (c("expert_compute") * self.rate) + pairs * 2 * (
            3 * self.hidden + 3 * width) / (bandwidth * self.bandwidth)
        t += self.ep**c("expert_imbalance") * soft_max(stream, flow)
        t += self.reduces * c("all_reduce_s") * (1 + 0.25 * np.log2(self.tp))
        t += self.reduce_s / c("all_reduce_bandwidth")
        t += self.exchanges * c("all_to_all_s") + self.exchange_s / c("all_to_all_bandwidth")
        head = self.linear(self.head / self.tp, 2, self.bf16, self.head_tokens, bandwidth, 0.6)
        t += head + self.drafts * (head + c("draft_s"))
        launched = (self.layers + self.linear_layers * c("linear_extra")
                    + self.norm_layers * c("norm_extra")
                    + self.requantised * c("requantise_extra"))
        t += launched * c("layer_s")
        t += c("step_s") + c("sequence_s") * self.rank_sequences
        t += self.prefilling * c("prefill_step_s")
        t += (c("activation_passes") * 2 * self.tokens * self.layers * self.hidden
              / self.bandwidth)
        return np.hypot(t, self.prefilling * self.eager * launched * c("eager_layer_s"))

    def gain(self, constants):
        """Tokens a step over those that the schedules were made with."""
        first, decay = np.minimum(0.99, constants["accept_first"]), constants["accept_decay"]
        decay = np.minimum(1, decay)
        rejection = (self.output / 922)**-constants["accept_growth"]
        a, b, c = (1 - (1 - first * decay**i) * rejection for i in range(3))
        three, one = 1 + a + a * b + a * b * c, 1 + a
        return np.where(self.point_drafts == 3, three / 2.495,
                        np.where(self.point_drafts == 1, one / 1.79, 1.0))

    def predict(self, constants):
        """TPOT and TTFT, mean, in milliseconds."""
        t = self.seconds(constants)
        tpot = np.bincount(self.index, t * self.tpot_weight, self.count) * 1e3
        ttft = np.bincount(self.index, t * self.ttft_weight, self.count) * 1e3
        return tpot / self.gain(constants), ttft + constants["request_s"] * 1e3
