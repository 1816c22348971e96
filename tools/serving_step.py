"""The step-time model of src/instrument/sim/step_model.cc, over many batches at once (numpy).

Only tools/calibrate_serving_model.py uses it; its `check` compares the outcome with the binary.
"""

import numpy as np

BYTES = {"bf16": 2.0, "fp8": 1.0, "nvfp4": 0.5625, "mxfp4": 0.53}
CARDS = {
    "h100_sxm": {"generation": "hopper", "memory": 85.9e9, "bandwidth": 3.35e12, "bf16": 989e12,
                 "fp8": 1979e12, "link": 450e9},
    "h200_sxm": {"generation": "hopper", "memory": 150.8e9, "bandwidth": 4.8e12, "bf16": 989e12,
                 "fp8": 1979e12, "link": 450e9},
    "b200_sxm": {"generation": "blackwell", "memory": 193.3e9, "bandwidth": 8e12, "bf16": 2250e12,
                 "fp8": 4500e12, "nvfp4": 9000e12, "mxfp4": 9000e12, "link": 900e9},
}


def dense_weights(p, b):
    return (80 * (151.0e6 + 704.6e6) * b + 4 * 128256 * 8192) / p["tp"]


def gpt_oss_weights(p, b):
    experts = 128 * 24.88e6 * b / (p["moe_tp"] * p["ep"])
    return 36 * (2 * 26.5e6 / p["tp"] + experts) + 4 * 201088 * 2880 / p["tp"]


def deepseek_weights(p, b):
    experts = 58 * (256 * 44.04e6 * b / (p["moe_tp"] * p["ep"]) + 44e6 * b / p["tp"])
    rest = 61 * 187.1e6 + 3 * 396e6 * b + 4 * 129280 * 7168
    return rest / p["tp"] + experts


MODELS = {
    "l70": {"architecture": "dense", "layers": 80, "hidden": 8192, "heads": 64, "kv": 8, "dim": 128,
            "inner": 28672, "vocabulary": 128256, "weights": dense_weights,
            "kv_elements": lambda tp: 2 * max(1, 8 / tp) * 128 * 80},
    "gptoss": {"architecture": "moe", "layers": 36, "hidden": 2880, "heads": 64, "kv": 8, "dim": 64,
               "experts": 128, "active": 4, "expert_inner": 2880, "vocabulary": 201088,
               "sliding": 18, "window": 128, "weights": gpt_oss_weights,
               "kv_elements": lambda tp: 2 * max(1, 8 / tp) * 64 * 18},
    "dsr1": {"architecture": "moe_mla", "layers": 61, "hidden": 7168, "heads": 128, "mla": True,
             "dense": 3, "inner": 18432, "experts": 256, "active": 8, "expert_inner": 2048,
             "shared": 1, "vocabulary": 129280, "weights": deepseek_weights,
             "kv_elements": lambda tp: 576 * 61},
}


def kv_element_bytes(p):
    """The rules of catalogue/backends."""
    return 2 if p["precision"] == "bf16" else 1


def attention_format(p):
    if p["m"] == "gptoss":
        return "bf16"
    return "fp8" if p["m"] == "dsr1" and p["precision"] == "nvfp4" else p["precision"]


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
        self.output = np.array([p["osl"] for p in points], float)
        self.point_drafts = np.array([p["drafts"] for p in points])
        self.shape(points)
        self.load(context, work)

    def each(self, points, value):
        return np.array([float(value(p)) for p in points])[self.index]

    def shape(self, points):
        def model(name, fallback=0):
            return self.each(points, lambda p: MODELS[p["m"]].get(name, fallback))

        def card(name):
            return self.each(points, lambda p: CARDS[p["card"]][name])

        def rate(word):
            return self.each(points, lambda p: CARDS[p["card"]].get(word(p),
                                                                    CARDS[p["card"]]["bf16"]))
        for name in ("tp", "dp", "ep", "moe_tp", "drafts"):
            setattr(self, name, self.each(points, lambda p, n=name: p[n]))
        self.layers, self.hidden, self.heads = model("layers"), model("hidden"), model("heads")
        self.bandwidth, self.link, self.bf16 = card("bandwidth"), card("link"), card("bf16")
        self.mla = model("mla")
        gqa = 2 * self.hidden * model("dim") * (self.heads + model("kv"))
        self.attention = np.where(self.mla > 0, 187.1e6, gqa)
        self.attention_bytes = self.each(points, lambda p: BYTES[attention_format(p)])
        self.attention_rate = rate(attention_format)
        self.weight_bytes = self.each(points, lambda p: BYTES[p["precision"]])
        self.rate = rate(lambda p: p["precision"])
        self.experts, self.active = model("experts"), model("active")
        self.dense = np.where(self.experts > 0, model("dense"), self.layers)
        is_moe = self.experts > 0
        self.ffn = 3 * self.hidden * model("inner")
        self.ffn_bytes = np.where(is_moe, self.attention_bytes, self.weight_bytes)
        self.ffn_rate = np.where(is_moe, self.attention_rate, self.rate)
        self.expert = 3 * self.hidden * model("expert_inner")
        self.moe_layers = self.layers - self.dense
        self.shared, self.head = model("shared"), model("vocabulary") * self.hidden
        self.qk = np.where(self.mla > 0, 320, 2 * model("dim"))
        self.sliding, self.window = model("sliding"), model("window")
        self.kv_bytes = self.each(points, lambda p: kv_element_bytes(p) * (
            576 if p["m"] == "dsr1" else
            2 * max(1, MODELS[p["m"]]["kv"] / p["tp"]) * MODELS[p["m"]]["dim"]))

    def load(self, context, work):
        self.prefilling = (self.all_prompts > 0) * 1.0
        self.tokens = self.rank_sequences * (1 + self.drafts) + self.prompts
        self.all_tokens = self.sequences * (1 + self.drafts) + self.all_prompts
        full = self.layers - self.sliding
        self.kv_read = self.kv_bytes * (context * full + self.sliding * np.minimum(
            context, self.rank_sequences * self.window))
        self.mla_flops = (self.mla * 2 * (1 + self.drafts) * context * self.heads / self.tp * 1088
                          * self.layers)
        self.prefill_flops = 2 * self.heads / self.tp * self.qk * (
            work * full + self.sliding * np.minimum(work, self.prompts * self.window))
        self.expert_flops = (2 * self.expert / self.moe_tp * self.all_tokens * self.active / self.ep
                             * self.moe_layers)
        several = self.tp > 1
        self.reduces = np.where(several, 2 * self.layers, 0)
        self.reduce_s = np.where(several, 2 * self.layers * 4 * self.tokens * self.hidden
                                 * (self.tp - 1) / self.tp / self.link, 0)
        exchange = (self.experts > 0) & ((self.dp > 1) | ((self.ep > 1) & (self.tp == 1)))
        remote = self.ep * (1 - (1 - 1 / self.ep)**np.maximum(self.active, 1)) * (1 - 1 / self.ep)
        self.exchanges = exchange * self.moe_layers
        self.exchange_s = self.exchanges * self.tokens * remote * self.hidden * 3 / self.link
        self.head_tokens = self.rank_sequences * (1 + self.drafts) + self.prefilling

    def linear(self, weights, width, rate, tokens, bandwidth, compute):
        return soft_max(weights * width / (bandwidth * self.bandwidth),
                        2 * weights * tokens / (compute * rate))

    def seconds(self, constants):
        def c(name):
            return constants[name][self.index]
        bandwidth = c("weight_bandwidth")
        t = self.linear(self.layers * self.attention / self.tp, self.attention_bytes,
                        self.attention_rate, self.tokens, bandwidth, c("attention_compute"))
        t += self.linear(self.dense * self.ffn / self.tp, self.ffn_bytes, self.ffn_rate,
                         self.tokens, bandwidth, c("compute"))
        t += self.linear(self.moe_layers * self.shared * self.expert / self.tp, self.weight_bytes,
                         self.rate, self.tokens, bandwidth, c("compute"))
        t += soft_max(self.kv_read / (c("kv_bandwidth") * self.bandwidth),
                      self.mla_flops / (c("mla_compute") * self.bf16))
        t += self.prefill_flops / (c("prefill_attention") * self.bf16)
        distinct = self.sequences * (1 + self.drafts * c("draft_coverage")) + self.all_prompts
        touched = self.experts * (1 - (1 - self.active / np.maximum(self.experts, 1))**distinct)
        split = c("expert_bandwidth") * self.moe_tp**-c("expert_split_loss")
        stream = (touched / self.ep * self.expert / self.moe_tp * self.weight_bytes
                  * self.moe_layers / (split * self.bandwidth))
        t += self.ep**c("expert_imbalance") * soft_max(
            stream, self.expert_flops / (c("expert_compute") * self.rate))
        t += self.reduces * c("all_reduce_s") * (1 + 0.25 * np.log2(self.tp))
        t += self.reduce_s / c("all_reduce_bandwidth")
        t += self.exchanges * c("all_to_all_s") + self.exchange_s / c("all_to_all_bandwidth")
        head = self.linear(self.head / self.tp, 2, self.bf16, self.head_tokens, bandwidth, 0.6)
        t += head + self.drafts * (head + c("draft_s"))
        t += self.layers * c("layer_s") + c("step_s") + c("sequence_s") * self.rank_sequences
        t += self.prefilling * (c("prefill_step_s") + (self.drafts > 0) * c("draft_prefill_s"))
        return t + c("prefill_token_s") * self.prompts

    def gain(self, constants):
        """Tokens a step over those that the schedules were made with."""
        first, decay = np.minimum(0.99, constants["accept_first"]), constants["accept_decay"]
        decay = np.minimum(1, decay)
        rejection = (self.output * 0.9 / 922)**-constants["accept_growth"]
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
