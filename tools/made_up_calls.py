"""Made-up turns, categories and function calls, and the originals' judgements of them: the agentic
replay, Shopify's categories, BFCL's single turn. For tools/against_originals.py."""

import ast
import collections
import importlib.util
import json
import pathlib
import re
import sys
import types
import typing

EVALUATION = "src/inference_endpoint/evaluation"
SHOPIFY = "src/inference_endpoint/dataset_manager/predefined/shopify_product_catalogue/metadata.py"


class Rows(typing.NamedTuple):
    """A judge of rows with more columns than a reply and a truth."""
    scorer: str
    row: typing.Callable  # chance → (columns with the reply, their score or None: not judged)


def run(module, path, space):
    exec(compile(module, str(path), "exec"), space)  # pylint: disable=exec-used


def parts_of_class(path, name, wanted, space):
    """A class of theirs with its constants and the methods that are `wanted`, and no base."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            node.bases, node.keywords = [], []
            node.body = [part for part in node.body
                         if isinstance(part, (ast.Assign, ast.AnnAssign))
                         or isinstance(part, ast.FunctionDef) and part.name in wanted]
            run(ast.Module([node], []), path, space)
            return space[name]
    raise SystemExit(f"{path} has no class {name}")


# ---- the agentic replay -------------------------------------------------------------------------

INTENTS = ["intent: I001", "Intent:I042", "INTENT:\u00a0i007", "I001", "I042.", "xI001",
           "I0011", "I\u0661\u0662\u0663", "intent : I001", "intent: \u0131001",
           "intent:\nI001 I042", "final", "\u0130001", "intent: I001\u00e9", "I001,I042",
           "(I007)"]
PROGRAMS = ["python3.11 -m pytest", "/usr/bin/python3 a.py", "A=1 B=2 python x",
            "sudo env X=1 pip3", "grep -r 'a | b'", "cat \"a;b\" && ls", "egrep x|wc -l;true",
            "CAT a", "./run.sh", ". env", "time nice make", "sed -n \"s/\\\"a/b/\" f", "`ls`",
            "echo hi", "python2.7.1", "pip3.11.4", "\u0130ls", "find . -name x | xargs rm",
            "unset X\ndate", "apt-get install", "'", "\"", "", "git commit -m 'a && b'",
            "9A=1 ls", "\u00c9=1 ls", "ls\u2028cat", "ls\u0085cat", "env"]


def tool_calls(chance):
    calls = []
    for _ in range(chance.randint(0, 3)):
        parts = chance.choices(PROGRAMS, k=chance.randint(1, 3))
        command = chance.choice([" | ", "&&", ";", "\n", " || "]).join(parts)
        arguments = chance.choice([
            {"command": command}, {"cmd": command}, {"command": "", "cmd": command},
            {"command": 5}, [command], json.dumps({"command": command}),
            json.dumps({"cmd": command}), "{", json.dumps([command]), None])
        calls.append(chance.choice([{"function": {"name": "bash", "arguments": arguments}}] * 6 + [
            {"function": {"name": "Bash", "arguments": arguments}}, {"function": None}, {}]))
    return calls


def agentic(checkout):
    space = {"re": re, "json": json, "Any": typing.Any, "ClassVar": typing.ClassVar}
    judge = parts_of_class(checkout / EVALUATION / "scoring.py", "AgenticInferenceInlineScorer",
                           {"_ground_truth_intents", "_model_intent", "_bash_actions"}, space)()

    def row(chance):
        workflow = chance.random() < 0.5
        texts = [" ".join(chance.choices(INTENTS, k=chance.randint(0, 3))) for _ in range(2)]
        calls = tool_calls(chance)
        expected = {"turn": 2, "intent_codes": chance.choice(
            [["I001"], ["i042", "I007"], [], None, ["I\u0661\u0662\u0663", None], "I001"]),
            "tool_calls": chance.choice([calls, tool_calls(chance)])}
        model = {"reasoning_content": texts[0], "content": texts[1], "tool_calls": calls}
        if workflow:
            wanted = judge._ground_truth_intents(expected)
            score = float(judge._model_intent(model) in wanted) if wanted else None
        else:
            true, said = (collections.Counter(judge._bash_actions(one))
                          for one in (expected, model))
            union = sum((true | said).values())
            score = sum((true & said).values()) / union if true else None
        return {"conversation_id": f"sim_{chance.randrange(99)}" if workflow else "swe",
                "turn": 1, "expected": expected, "reasoning": texts[0], "reply": texts[1],
                "tool_calls": calls}, score

    return Rows("agentic_inference_inline", row)


# ---- Shopify ------------------------------------------------------------------------------------


def shopify(checkout):
    spec = importlib.util.spec_from_file_location("shopify_metadata", checkout / SHOPIFY)
    metadata = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(metadata)
    import pydantic  # pylint: disable=import-outside-toplevel
    space = {"ProductMetadata": metadata.ProductMetadata,
             "ValidationError": pydantic.ValidationError,
             "_PRED_CATEGORY_PAD": "<|__PRED_CATEGORY_PAD__|>", "_CATEGORY_SEPARATOR": " > "}
    names = {"_create_pred_pad_category", "_parse_response_to_category",
             "_match_hierarchical_paths", "_calculate_hierarchical_f1"}
    path = checkout / EVALUATION / "scoring.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            run(ast.Module([node], []), path, space)

    def row(chance):
        levels = ["A", "B ", " C", "D > E", "\u00e9", "A\u00a0", "", "a", ">"]
        truth = chance.choice([" > ", " > ", ">", "  >  "]).join(
            chance.choices(levels, k=chance.randint(1, 4)))
        said = chance.choice([truth, truth + " > X", truth.rpartition(" > ")[0], " ".join(levels)])
        fields = {"category": said, "brand": "b", "is_secondhand": chance.choice(
            [True, False, "true", "NO", "maybe", 0, 1, 2, 1.0, 0.5, None, "1", " true", "On"])}
        for _ in range(chance.choice([0, 0, 0, 1])):
            chance.choice([lambda: fields.pop("brand"), lambda: fields.update(more=1),
                           lambda: fields.update(category=5), lambda: fields.update(brand=None)])()
        text = json.dumps(fields, ensure_ascii=chance.random() < 0.5)
        reply = chance.choice([text] * 6 + [f"```json\n{text}\n```", text + " ", "\n" + text,
                                            text[:-1], text + text, text.replace("}", ",}"), ""])
        found = space["_parse_response_to_category"](reply, truth.strip())
        return ({"ground_truth_category": truth, "reply": reply},
                space["_calculate_hierarchical_f1"]([(found, truth.strip())]))

    return Rows("shopify_category_f1", row)


# ---- BFCL ---------------------------------------------------------------------------------------


def checker_of(folder):
    """bfcl-eval's checker without the libraries of its model handlers."""
    sys.path.insert(0, str(folder))
    flags = collections.defaultdict(lambda: types.SimpleNamespace(underscore_to_dot=True))
    module = types.ModuleType("bfcl_eval.constants.model_config")
    module.MODEL_CONFIG_MAPPING = flags
    sys.modules[module.__name__] = module
    language = importlib.import_module("bfcl_eval.constants.enums").Language
    checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
    return language, checker.ast_checker


TYPES = ["string", "integer", "float", "boolean", "array", "dict", "tuple", "any"]
VALUES = ["London", "london ", "a-b,c", 5, 5.0, "5", True, "true", None, [1, 2], [2, 1], ["a"], [],
          {"k": "v"}, {"k": "V"}, {}, "", -1, 1e300, [[1], [2]], [{"k": "v"}]]


def key_of(value):
    """A value as an answer key has it: of a dict's members there are lists."""
    if isinstance(value, dict):
        return {name: [key_of(one)] for name, one in value.items()}
    return [key_of(one) for one in value] if isinstance(value, list) else value


def bfcl(checkout, folder):
    language, check = checker_of(folder)
    space = {"json": json, "Language": language, "ast_checker": check, "Any": typing.Any,
             "_SUBSET_LANGUAGE_NAMES": {"simple_java": "JAVA", "simple_javascript": "JAVASCRIPT"},
             "_AST_CHECKER_MODEL_NAME": "m"}
    judge = parts_of_class(checkout / EVALUATION / "bfcl_v4_scorer.py", "BFCLv4Scorer",
                           {"_score_ast"}, space)()

    def row(chance):
        subset = chance.choice(["simple_python", "multiple", "parallel", "live_simple",
                                "live_parallel_multiple", "live_multiple"])
        functions, calls, truth = [], [], []
        for name in chance.sample(["get.weather", "f_g", "m.n.o"], k=chance.randint(1, 3)):
            parameters = {p: {"type": chance.choice(TYPES), "items": {"type": "integer"}}
                          for p in chance.sample("xyz", k=chance.randint(1, 3))}
            functions.append({"name": name, "description": "", "parameters": {
                "type": "dict", "properties": parameters,
                "required": [p for p in parameters if chance.random() < 0.6]}})
            values = {p: chance.choices(VALUES, k=chance.randint(1, 2)) for p in parameters}
            if chance.random() < 0.3:
                values[next(iter(values))].append("")  # optional
            truth.append({name: {p: [key_of(one) for one in v] for p, v in values.items()}})
            said = {p: chance.choice(v) if chance.random() < 0.85 else chance.choice(VALUES)
                    for p, v in values.items() if chance.random() < 0.93}
            if chance.random() < 0.05:
                said["more"] = 1
            calls.append({"type": "function", "id": "c", "function": {
                "name": name.replace(".", "_"), "arguments": json.dumps(said)}})
        if "parallel" not in subset:
            truth, calls = truth[:1], calls[:chance.choice([1, 1, 1, 2])]
            functions = functions if "multiple" in subset else functions[:1]
        chance.shuffle(calls)
        value = json.dumps([{"name": c["function"]["name"],
                             "arguments": json.loads(c["function"]["arguments"])} for c in calls])
        try:
            score = judge._score_ast(value, json.dumps(truth), functions, subset)
        except Exception:  # pylint: disable=broad-except; their checker stops: nothing to compare
            score = None
        return {"subset": subset, "ground_truth": json.dumps(truth), "reply": "",
                "tool_calls": calls, "func_description": json.dumps(functions)}, score

    return Rows("bfcl_v4", row)


def judges(endpoints: pathlib.Path, bfcl_eval: pathlib.Path | None):
    out = {"agentic": agentic(endpoints), "shopify": shopify(endpoints)}
    if bfcl_eval is not None:
        out["bfcl_single_turn"] = bfcl(endpoints, bfcl_eval)
    return out
