"""A small Llama with random weights, as a GGUF file, and llama.cpp's own server on it."""

import contextlib
import shutil

import gguf
import numpy
from programs import beside_python, free_port, running

WIDTH, LAYERS, HEADS, INNER, CONTEXT = 64, 2, 4, 128, 8192
TEMPLATE = ("{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}")


def write_model(path, seed=1):
    """Bytes are its tokens, beside the few that have a meaning."""
    rng = numpy.random.default_rng(seed)
    kinds = gguf.TokenType
    tokens = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL),
              *((f"<0x{i:02X}>", kinds.BYTE) for i in range(256)),
              *((letter, kinds.NORMAL) for letter in "▁abcdefghijklmnopqrstuvwxyz")]
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
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(kind) for _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    def add(name, *shape):
        writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(numpy.float32))

    add("token_embd.weight", len(tokens), WIDTH)
    add("output.weight", len(tokens), WIDTH)
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


def server_program():
    """llama.cpp's server, where its package put it."""
    beside = beside_python("llama-server")
    found = beside if beside.exists() else shutil.which("llama-server")
    assert found, "llama-server is not installed"
    return found


@contextlib.contextmanager
def served(folder, *flags):
    """Runs the server on a model in this folder; gives its port when it is ready."""
    model = folder / "tiny.gguf"
    write_model(model)
    port = free_port()
    with running([server_program(), "-m", model, "--host", "127.0.0.1", "--port", port, "-c",
                  CONTEXT, "--alias", "tiny", *flags], port, "/health", folder):
        yield port
