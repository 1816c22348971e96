// The program that plays BFCL v4's multi-turn entries: conversations in which a model's calls are
// run against simulated services, and the results go back to it. Services, entries and the judge
// are those of the user's installed package bfcl-eval; this text only drives them, as the reference
// client's does: at most 25 steps a turn, and only calls to functions that the entry declares.
//
// external.cc writes it into the scorer's folder and runs it in the jail. Its arguments are
// the file of its settings (the scorer's extras) and that of its result.
#pragma once

#include <string_view>

namespace assay::score {

inline constexpr std::string_view kBfclMultiTurn = R"PYTHON(
import json, os, re, sys, urllib.request
with open(sys.argv[1], encoding="utf-8") as file:
    given = json.load(file)
os.environ["BFCL_PROJECT_ROOT"] = os.getcwd()
try:
    from bfcl_eval.constants.enums import ModelStyle
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils as services
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
    from bfcl_eval.model_handler.utils import convert_to_function_call, convert_to_tool
    from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry
except ImportError as error:
    sys.exit(f"{sys.executable} has no bfcl-eval ({error}): pip install bfcl-eval soundfile, "
             "and name its Python in extras.python")
NAME = "assay"
SUBSETS = ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param",
           "multi_turn_long_context"]
NEW_FUNCTIONS = ("I have updated the available functions. You have access to new functions now. "
                 "Please re-evaluate the latest user request and use the appropriate function(s) "
                 "to handle the request.")


class Broken(Exception):
    """The endpoint gave no reply that can be read."""


def tools_of(functions):
    return convert_to_tool(functions, GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS)


def ask(messages, tools):
    body = {"model": given["model"], "messages": messages,
            "temperature": given.get("temperature", 0)}
    if tools:
        body.update(tools=tools, tool_choice="auto")
    if given.get("seed") is not None:
        body["seed"] = given["seed"]
    body.update(given.get("body") or {})
    headers = {"Content-Type": "application/json"}
    if given.get("api_key"):
        headers["Authorization"] = "Bearer " + given["api_key"]
    request = urllib.request.Request(given["endpoint"], json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=given.get("request_timeout_s", 300)) as reply:
            message = json.load(reply)["choices"][0]["message"]
        calls = [(one.get("id") or f"call_{i}", one["function"].get("name", ""),
                  one["function"].get("arguments", "{}"))
                 for i, one in enumerate(message.get("tool_calls") or [])]
        return message.get("content"), calls
    except Exception as error:
        raise Broken(str(error)) from error


def decoded(calls, tools):
    """The declared calls in Python's spelling; None where one cannot be read."""
    declared = {one["function"]["name"] for one in tools}
    try:
        return convert_to_function_call(
            [{name: json.loads(arguments) if isinstance(arguments, str) else arguments}
             for _, name, arguments in calls if not declared or name in declared])
    except Exception:
        return None


def run(calls, entry):
    results, _ = services.execute_multi_turn_func_call(
        func_call_list=calls, initial_config=entry.get("initial_config", {}),
        involved_classes=entry.get("involved_classes", []), model_name=NAME,
        test_entry_id=entry["id"], long_context="long_context" in entry["id"], is_evaL_run=False)
    return results


def play_turn(entry, messages, tools, steps):
    for _ in range(given.get("max_steps_per_turn", 25)):
        content, calls = ask(messages, tools)
        said = {"role": "assistant", "content": content or ""}
        if calls:
            said["tool_calls"] = [
                {"id": name_of, "type": "function", "function": {
                    "name": name,
                    "arguments": text if isinstance(text, str) else json.dumps(text)}}
                for name_of, name, text in calls]
        messages.append(said)
        ready = decoded(calls, tools) if calls else None
        if not ready or services.is_empty_execute_response(ready):
            return
        steps.append(ready)
        for result, (name_of, _, _) in zip(run(ready, entry), calls):
            messages.append({"role": "tool", "content": str(result), "tool_call_id": name_of})
    raise Broken(f"more than {given.get('max_steps_per_turn', 25)} steps in a turn")


def play(entry):
    """The calls of each turn, and why the conversation was cut off, or None."""
    messages, tools, turns = [], tools_of(entry.get("function", [])), []
    held_back = entry.get("missed_function") or {}
    try:
        for number, said in enumerate(entry["question"]):
            if str(number) in held_back:
                tools = tools + tools_of(held_back[str(number)])
                said = [{"role": "user", "content": NEW_FUNCTIONS}]
            messages += [{"role": m["role"], "content": m.get("content") or ""} for m in said]
            turns.append([])
            play_turn(entry, messages, tools, turns[-1])
        return turns, None
    except Broken as error:
        return turns, str(error)
    finally:  # the package keeps one service of each entry for ever
        for kind in entry.get("involved_classes", []):
            vars(services).pop(re.sub(r"[-./:]", "_", f"{NAME}_{entry['id']}_{kind}_instance"),
                               None)


def judge(entry, truth, subset):
    turns, cut_off = play(entry)
    if cut_off:
        return {"valid": False, "error_type": "force_terminated", "error_message": cut_off}
    if len(turns) != len(truth):
        return {"valid": False, "error_type": "turn_count_mismatch"}
    try:
        verdict = multi_turn_checker(
            multi_turn_model_result_list_decoded=turns, multi_turn_ground_truth_list=truth,
            test_entry={"id": entry["id"], "initial_config": entry.get("initial_config", {}),
                        "involved_classes": entry.get("involved_classes", [])},
            test_category=subset, model_name=NAME)
    except Exception as error:
        return {"valid": False, "error_type": "checker_exception", "error_message": str(error)}
    out = {"valid": bool(verdict.get("valid"))}
    if not out["valid"]:
        out["error_type"] = str(verdict.get("error_type", "unknown"))
        out["error_message"] = str(verdict.get("error_message", ""))
    return out


def main():
    per_entry, right, asked = [], {}, {}
    for subset in given.get("subsets") or SUBSETS:
        entries = load_dataset_entry(subset, include_prereq=True,
                                     include_language_specific_hint=False)
        truths = {one["id"]: one["ground_truth"] for one in load_ground_truth_entry(subset)}
        for entry in entries[:given.get("entries_max") or len(entries)]:
            verdict = judge(entry, truths.get(entry["id"], []), subset)
            per_entry.append({"entry_id": entry["id"], "subset": subset, **verdict})
            asked[subset] = asked.get(subset, 0) + 1
            right[subset] = right.get(subset, 0) + verdict["valid"]
    shares = {name: 100 * right[name] / asked[name] for name in asked}
    overall = sum(shares.values()) / len(shares) if shares else 0.0
    printed = sum(round(one, 2) for one in shares.values()) / len(shares) if shares else 0.0
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump({"score": overall, "overall_accuracy": round(printed, 2),
                   "subset_scores": {name: round(one, 2) for name, one in shares.items()},
                   "per_entry_scores": per_entry, "total_samples": len(per_entry),
                   "samples": [{"sample": i, "score": int(one["valid"])}
                               for i, one in enumerate(per_entry)]}, out)


main()
)PYTHON";

}  // namespace assay::score
