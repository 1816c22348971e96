#!/usr/bin/env python3
"""What each family of models has where its config.json is silent: catalogue/families.yaml.

    pip install transformers==5.5.0; tools/model_families.py > catalogue/families.yaml

A config.json that its publisher saved leaves out what equals the default of the family's class,
above all below text_config: Gemma 3 27B has no vocab_size. Read are the defaults of the
constructors, of the fields that src/instrument/sim/model_config.cc knows; what a class computes is
no default.
"""

import inspect
import pathlib
import re

import transformers
from transformers import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

READER = pathlib.Path(__file__).resolve().parent.parent / "src/instrument/sim/model_config.cc"
# Not about the shape, or words for other things there.
LEFT_OUT = {"ignore", "type", "dim", "format"}
# Whether layers slide is computed from more than the window, except in these.
SLIDING = ("gemma2", "gemma3", "cohere2", "gpt_oss")
# All that is said of a family by itself: its other defaults may be of a generation that came after
# the file, such as experts. Below text_config (_text) everything that equals a default is left out.
BASIC = {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "head_dim",
         "num_attention_heads", "num_key_value_heads", "tie_word_embeddings", "hidden_act",
         "mlp_hidden_act", "sliding_window", "n_embd", "n_layer", "n_layers", "n_head", "n_heads",
         "d_model", "num_layers"}


def defaults_of(kind, config, known):
    """Where the reader takes silence for the same, nothing is said."""
    out = {}
    for name, parameter in inspect.signature(config.__init__).parameters.items():
        value = parameter.default
        if name not in known or name == "max_window_layers":
            continue
        if name not in BASIC and not kind.endswith("_text"):
            continue
        if name.startswith("sliding_window") and not kind.startswith(SLIDING):
            continue
        if value is True or (isinstance(value, int) and value is not False) or value == "relu2":
            out[name] = value
    return out


def spelled(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def main():
    known = set(re.findall(r'"([a-z_0-9]+)"', READER.read_text(encoding="ascii"))) - LEFT_OUT
    families = {}
    for kind in sorted(CONFIG_MAPPING):
        try:
            config = CONFIG_MAPPING[kind]
        except (ImportError, KeyError):
            continue
        text = (getattr(config, "sub_configs", None) or {}).get("text_config")
        if text is not None and getattr(text, "model_type", ""):
            families[kind] = text.model_type
        elif kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES or "text" in kind.split("_"):
            found = defaults_of(kind, config, known)
            if "vocab_size" in found and not found.get("is_encoder_decoder"):
                families[kind] = found
    print("# What a family's config.json may leave out, by model_type; or whose it is.\n"
          f"# Made by tools/model_families.py from transformers {transformers.__version__} "
          f"(Apache 2.0).\nkind: families\nfamilies:")
    for kind, found in families.items():
        if isinstance(found, str):
            if isinstance(families.get(found), dict):
                print(f"  {kind}: {found}")
            continue
        print(f"  {kind}: {{{', '.join(f'{k}: {spelled(v)}' for k, v in found.items())}}}")


if __name__ == "__main__":
    main()
