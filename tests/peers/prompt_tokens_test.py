"""Input lengths of conversations with tool calls, against jinja2 and Hugging Face's tokenizers.

The reference client's way: arguments that are the text of a JSON object become that object, then
the template renders; what it refuses is counted as the JSON of its messages and tools, and told.
"""

import json
import random

import jinja_test
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

# As Hermes' and Qwen's do, it goes through the members of the arguments.
ITERATES = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
            "{{ c.function.name }}{% for k, v in c.function.arguments | items %}[{{ k }}={{ v }}]"
            "{% endfor %}{% endfor %}\n{% endfor %}{{ tools | tojson }}"
            "{% if add_generation_prompt %}<assistant>{% endif %}")
WANTS_CONTENT = ("{% for m in messages %}{{ '<' + m.role + '>' + m.content }}"
                 "{{ m.tool_calls | tojson if m.tool_calls }}{% endfor %}")
TEMPLATES = {**jinja_test.TEMPLATES, "iterates": ITERATES, "wants_content": WANTS_CONTENT}
WORDS = ["rain", "Köln", "漢字", "\"x\"", "a\\b", "😀", "line\nline", "7"]
CALLS = 24
SEED = 11


def arguments(rng):
    """What models say: an object as text or as it is, and texts that are not an object."""
    value = {rng.choice(WORDS): rng.choice([1, 2.5, None, True, 2**63 - 1, "é",
                                            [1, {"deep": "x"}], {}])
             for _ in range(rng.randrange(4))}
    return rng.choice([json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1), value,
                       "", "[1, 2]", "{broken", "\"text\""])


def conversation(rng, name):
    tools = [{"type": "function", "function": {"name": "look", "parameters": {
        "type": "object", "properties": {"n": {"maximum": 10**15, "minimum": 0.5}}}}}]
    rows = [{"role": "user", "content": rng.choice(WORDS), "system": "be brief",
             "tools": rng.choice([tools, None])}]
    for _ in range(CALLS):
        calls = [{"id": f"t{len(rows)}", "type": "function",
                  "function": {"name": "look", "arguments": arguments(rng)}}]
        said = rng.choice([{}, {"content": None}, {"content": ""}, {"content": rng.choice(WORDS)}])
        rows.append({"role": "assistant", "tool_calls": calls, **said})
        rows.append({"role": "tool", "tool_results": [
            {"tool_call_id": calls[0]["id"], "content": rng.choice(WORDS)}]})
    return [{"conversation_id": name, "turn": i, **row} for i, row in enumerate(rows, 1)]


def parsed(messages):
    """The reference client's step before it renders."""
    out = []
    for message in messages:
        calls = []
        for call in message.get("tool_calls") or []:
            function = call["function"]
            try:
                value = json.loads(function["arguments"])
            except (TypeError, ValueError):
                value = None
            calls.append({**call, "function": {**function, "arguments": value}}
                         if isinstance(value, dict) else call)
        out.append({**message, "tool_calls": calls} if calls else message)
    return out


def expected(env, tokenizer, template, messages, tools):
    """Tokens of the prompt, and whether the template refused it."""
    text = jinja_test.outcome(env, template, {
        "messages": parsed(messages), "tools": tools, "documents": None,
        "add_generation_prompt": True})
    asked = {"messages": parsed(messages), **({"tools": tools} if tools else {})}
    refused = text is None
    if refused:
        text = json.dumps(asked, ensure_ascii=False, separators=(",", ":"))
    return len(tokenizer.encode(text, add_special_tokens=False).ids), refused


@pytest.mark.parametrize("name", TEMPLATES)
def test_prompts_with_tool_calls_are_counted_the_same(tmp_path, assay, endpoint, name):
    rng = random.Random(SEED)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    folder = tmp_path / "model"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"model_max_length": int(1e30), "chat_template": TEMPLATES[name]}))
    rows = [row for k in range(3) for row in conversation(rng, f"c{k}")]
    data = tmp_path / "conversations.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    server = endpoint("--ttft", "1ms", "--osl", 1)
    config = tmp_path / "config.yaml"
    config.write_text(f"""
model_params: {{name: m, streaming: 'on', max_new_tokens: 4, tokenizer_name: {folder}}}
datasets: [{{name: c, path: {data}, type: performance, agentic_inference: {{}}}}]
settings:
  load_pattern: {{type: agentic_inference, target_concurrency: 2}}
  recording: {{events_jsonl: true}}
endpoint_config: {{endpoints: ['{server.url}']}}
""")
    summary = assay("run", "--config", config, "--report-dir", tmp_path / "run", "--json",
                    "--allow-client-limited").json()

    events = map(json.loads, (tmp_path / "run/events.jsonl").read_text().split("\n")[:-1])
    asked = [event["data"] for event in events if event["event_type"] == "sample.issued"]
    assert len(asked) == 3 * (1 + CALLS)
    env = jinja_test.environment()
    want = [expected(env, tokenizer, TEMPLATES[name], data[3], data[4]) for data in asked]
    lines = (tmp_path / "run/assay/token_counts.jsonl").read_text().split("\n")[:-1]
    got = [json.loads(line)[2] for line in lines[1:]]
    assert got == [tokens for tokens, _ in want]
    refused = sum(refused for _, refused in want)
    source = json.loads(lines[0])["source"]
    assert source["inputs_refused_by_template"] == refused and source["inputs_uncounted"] == 0
    told = [one for one in summary["assay"]["warnings"] if f"refused {refused} prompts" in one]
    assert len(told) == (1 if refused else 0)
