"""A small Llama with random weights, as a GGUF file, and llama.cpp's own server on it."""

import contextlib
import json
import pathlib
import sys

import gguf
import numpy
import tokenizers
from programs import free_port, running

# Small, because agents' prompts have 12,000 tokens.
WIDTH, LAYERS, HEADS, INNER, CONTEXT, WORDS = 32, 1, 4, 64, 32768, 4096
LISTED = 30_000  # made prompts of ids reach so far; what is not a word is never an answer
ROOT = pathlib.Path(__file__).resolve().parents[2]
SPECIAL = ["<unk>", "<s>", "</s>"]
TEMPLATE = ("{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}")


def vocabulary():
    """(tokens, merges) of byte pairs, learned from this project's documents and tools."""
    level = tokenizers.pre_tokenizers.ByteLevel
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = level(add_prefix_space=False)
    made.train([str(path) for pattern in ("docs/**/*.md", "tools/*.py")
                for path in sorted(ROOT.glob(pattern))],
               tokenizers.trainers.BpeTrainer(vocab_size=WORDS, special_tokens=SPECIAL,
                                              initial_alphabet=level.alphabet(),
                                              show_progress=False))
    model = json.loads(made.to_str())["model"]
    merges = [" ".join(pair) for pair in model["merges"]]
    return sorted(model["vocab"], key=model["vocab"].get), merges


def write_model(path, seed=1):
    rng = numpy.random.default_rng(seed)
    tokens, merges = vocabulary()
    words = len(tokens)
    tokens += [f"<|{i}|>" for i in range(LISTED - words)]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_merges(merges)
    writer.add_token_types([int(gguf.TokenType.CONTROL if text in SPECIAL
                                else gguf.TokenType.NORMAL) for text in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    def add(name, *shape):
        writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(numpy.float32))

    add("token_embd.weight", len(tokens), WIDTH)
    out = numpy.zeros((len(tokens), WIDTH), numpy.float32)
    out[:words] = rng.normal(0, 0.3, (words, WIDTH))
    writer.add_tensor("output.weight", out)
    writer.add_tensor("output_norm.weight", numpy.ones(WIDTH, numpy.float32))
    for layer in range(LAYERS):
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{layer}.{norm}.weight", numpy.ones(WIDTH, numpy.float32))
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", INNER, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# llama.cpp's own server, as a package has it that nothing must be compiled for.
SERVER = """
import json, signal, sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
for name, value in json.loads(sys.argv[2]).items():
    setattr(params, name, value)
if params.embedding:
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(params)
signal.pause()
"""


@contextlib.contextmanager
def served(folder, **settings):
    """Runs the server on a model in this folder; gives its port when it is ready."""
    model = folder / "tiny.gguf"
    write_model(model)
    port = free_port()
    asked = {"port": port, "n_ctx": CONTEXT, "model_alias": ["tiny"], **settings}
    with running([sys.executable, "-c", SERVER, model, json.dumps(asked)], port, "/health", folder):
        yield port
