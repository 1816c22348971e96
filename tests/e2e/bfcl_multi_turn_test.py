"""BFCL v4's conversations, with a stand-in for the package bfcl-eval: what the driver sends, what
it runs, and how it counts. (The package itself is too large for this suite.)
"""

import json
import sys

import pytest

# One service that adds numbers. An entry asks for two turns; in the second a function is new.
PACKAGE = {
    "constants/enums.py": "class ModelStyle:\n    OPENAI_COMPLETIONS = 1\n",
    "constants/type_mappings.py": "GORILLA_TO_OPENAPI = {}\n",
    "eval_checker/multi_turn_eval/multi_turn_utils.py": """
def execute_multi_turn_func_call(func_call_list, initial_config, involved_classes, model_name,
                                 test_entry_id, long_context, is_evaL_run):
    return [f"{call} = {initial_config['base']}" for call in func_call_list], {}
def is_empty_execute_response(calls):
    return not calls
""",
    "eval_checker/multi_turn_eval/multi_turn_checker.py": """
def multi_turn_checker(multi_turn_model_result_list_decoded, multi_turn_ground_truth_list,
                       test_entry, test_category, model_name):
    said = [[c for step in turn for c in step] for turn in multi_turn_model_result_list_decoded]
    right = said == multi_turn_ground_truth_list
    return {"valid": right} if right else {"valid": False, "error_type": "other_state"}
""",
    "model_handler/utils.py": """
def convert_to_tool(functions, mapping, style):
    return [{"type": "function", "function": {"name": f["name"]}} for f in functions]
def convert_to_function_call(calls):
    return [f"{n}({a})" for call in calls for n, a in call.items()]
""",
    "utils.py": """
def load_dataset_entry(subset, include_prereq, include_language_specific_hint):
    return [{"id": f"{subset}_{i}", "function": [{"name": "add"}], "initial_config": {"base": i},
             "involved_classes": ["Adder"], "missed_function": {"1": [{"name": "take"}]},
             "question": [[{"role": "user", "content": f"entry {i}"}], []]} for i in range(3)]
def load_ground_truth_entry(subset):
    return [{"id": f"{subset}_{i}", "ground_truth": [["add({'n': 1})"], ["take({'n': 2})"]]}
            for i in range(3)]
""",
}


def play(_, body):
    """Right for entry 0; entry 1 calls what it may not; entry 2 gets no reply that can be read."""
    entry = int(body["messages"][0]["content"].split()[1])
    turn = sum(m["role"] == "user" for m in body["messages"]) - 1
    calls = [("add", {"n": 1})] if turn == 0 else [("take", {"n": 2})]
    if entry == 1:
        calls = [("__import__('os').system", {"n": 1})]
    message = {"role": "assistant", "content": "done"}
    if body["messages"][-1]["role"] == "user":
        message = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c0", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments in calls]}
    return 200, {"choices": [{"message": message}]} if entry < 2 else {"oops": 1}


@pytest.fixture
def model(chat_model):
    return chat_model(play, whole=True)


@pytest.fixture
def python(tmp_path):
    """A Python that has the stand-in."""
    for name, text in PACKAGE.items():
        path = tmp_path / "site/bfcl_eval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\nPYTHONPATH={tmp_path}/site exec {sys.executable} \"$@\"\n")
    program.chmod(0o755)
    return program


def test_conversations_are_played_and_judged(assay, model, python, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"reply": ""}\n')
    extras = {"endpoint": model.url, "model": "m", "python": str(python), "seed": 7,
              "subsets": ["multi_turn_base"]}
    flags = ["score", rows, "--scorer", "bfcl_v4_multi_turn", "--json", "--extras"]
    refused = assay(*flags, json.dumps(extras), code=2)
    assert "--allow-code" in refused.err
    nowhere = assay(*flags, json.dumps({"model": "m"}), "--allow-code", code=2)
    assert "extras.endpoint" in nowhere.err

    verdict = assay(*flags, json.dumps(extras), "--allow-code",
                    env={"OPENAI_API_KEY": "k-71"}).json()
    assert verdict["score"] == pytest.approx(100 / 3)
    assert verdict["breakdown"]["subset_scores"] == {"multi_turn_base": 33.33}
    assert [one.get("error_type", "right") for one in verdict["breakdown"]["per_entry_scores"]] == [
        "right", "other_state", "force_terminated"]
    assert verdict["uncertainty"]["score"]["samples"] == 3
    assert "k-71" not in json.dumps(verdict)

    first = model.asked[0]
    assert model.heads[0]["Authorization"] == "Bearer k-71"
    assert first["seed"] == 7 and first["temperature"] == 0 and first["tool_choice"] == "auto"
    assert [one["function"]["name"] for one in first["tools"]] == ["add"]
    # The first entry: a call, its result, the end of the turn; then the new function.
    whole = model.asked[3]
    assert [one["function"]["name"] for one in whole["tools"]] == ["add", "take"]
    assert [m["role"] for m in whole["messages"]] == [
        "user", "assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert whole["messages"][2]["content"] == "add({'n': 1}) = 0"
    assert "updated the available functions" in whole["messages"][4]["content"]


def test_a_python_without_the_package_is_named(assay, model, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"reply": ""}\n')
    empty = tmp_path / "python"
    empty.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    empty.chmod(0o755)
    extras = {"endpoint": model.url, "model": "m", "python": str(empty)}
    failed = assay("score", rows, "--scorer", "bfcl_v4_multi_turn", "--allow-code", "--extras",
                   json.dumps(extras), code=None)
    assert failed.code != 0 and "pip install bfcl-eval" in failed.err
