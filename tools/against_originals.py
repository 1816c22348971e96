#!/usr/bin/env python3
"""Replies judged twice: by the suites' own programs and by Assay.

    tools/against_originals.py --inference DIR --endpoints DIR [--prm800k DIR] [--bfcl-eval DIR]
                               [--replies N] [--seed S] [JUDGE...]

DIR are checkouts of mlcommons/inference, mlcommons/endpoints and openai/prm800k (which also needs
the packages sympy and pylatexenc 2.10, and Python 3.12 as the evaluators' images have: sympy reads
characters that are not ASCII by Python's tokenizer); --bfcl-eval is the folder that holds the
package bfcl_eval; Shopify's needs pydantic. Nothing of them is copied: their functions are
taken from their files and called. Replies are made up: ordinary phrasings, several answers, code,
channels, thoughts that are cut off, tables, other languages, Unicode's spaces, digits and letters,
then mutations of all that (answers of mathematics: made_up_math.py; turns of agents, categories and
function calls: made_up_calls.py). For each judge it prints how
many verdicts differ and the first of them; the exit code is 1 when one does.

--keep FILE writes a sample of the verdicts, which score_test reads (tests/data/judges). Differences
that stay, with their reasons, are in KNOWN.
"""

import argparse
import ast
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import typing

import made_up_calls
import made_up_math

# Differences that stay: the judge, a test of the reply and the truth, the reason.
KNOWN: list[tuple[str, typing.Callable[[str, str], bool], str]] = [
    ("deepseek_r1_math500",
     lambda reply, truth: re.search(r"\d\.|\.\d|[!∞]", reply + truth) is not None,
     "decimals beside roots or variables, which sympy adds in an order of its own, each step "
     "rounded to a double; and factorials of expressions"),
    ("deepseek_r1_math500",
     lambda reply, truth: re.search(r"/ *0(?!\.?\d)|\{0\}", reply + truth) is not None,
     "letters divided by zero below a root, where sympy takes two infinities for the same"),
]

DEEPSEEK = "language/deepseek-r1/eval_accuracy.py"
GPT_OSS = "language/gpt-oss-120b/eval_accuracy.py"
LLAMA = "language/llama3.1-405b/evaluate-accuracy.py"
MIXTRAL = "language/mixtral-8x7b/evaluate-accuracy.py"
EXTRACTOR = "src/inference_endpoint/evaluation/extractor.py"


class Missing:
    """Stands for pandas, which the programs ask only whether a value is missing."""

    @staticmethod
    def isna(value):
        return value is None or value != value


def functions_of(path):
    """The functions of a program, without the libraries that it imports for other things."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    wanted = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
    keep = [node for node in tree.body if isinstance(node, wanted) or is_standard_import(node)]
    space = {"pd": Missing, "lru_cache": lambda **_: lambda f: f}
    for node in keep:
        module = ast.Module([node], [])
        try:
            exec(compile(module, str(path), "exec"), space)  # pylint: disable=exec-used
        except (NameError, ImportError, AttributeError):
            continue  # it needs a library, and so is no judge of one reply
    return space


def is_standard_import(node):
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and node.module.split(".")[0] in sys.stdlib_module_names
    return isinstance(node, ast.Import) and all(
        name.name.split(".")[0] in sys.stdlib_module_names for name in node.names)


class Judge(typing.NamedTuple):
    flags: list  # of `assay score`
    columns: dict
    judge: typing.Callable  # (reply, truth) → (extracted, score); score None: not judged here
    kind: str  # of replies


def client_judges(checkout):
    space = functions_of(checkout / EXTRACTOR)

    def by(name):
        extract = space[name].extract

        def judge(reply, truth):
            found = extract(reply)
            return found, float(found == truth)
        return judge

    flags = ["--scorer", "pass_at_1", "--ground-truth", "truth", "--extractor"]
    return {
        "client_abcd": Judge([*flags, "abcd_extractor"], {}, by("ABCDExtractor"), "choice"),
        "client_boxed": Judge([*flags, "boxed_math_extractor"], {}, by("BoxedMathExtractor"),
                              "number"),
        "client_code": Judge([*flags, "python_code_extractor"], {}, by("PythonCodeExtractor"),
                             "code"),
    }


class TooLong(Exception):
    """The original did not end."""


def math_grader(checkout):
    """PRM800K's grader: (answer, truth) → verdict; None: it is not here."""
    if checkout is None:
        return None
    sys.path.insert(0, str(checkout / "prm800k"))
    from grading import grader  # pylint: disable=import-error,import-outside-toplevel
    late = []

    def ring(*_):
        late.append(True)
        raise TooLong

    signal.signal(signal.SIGALRM, ring)

    def grade(answer, truth):
        if not answer or not truth or not answer.strip():
            return False
        late.clear()
        signal.setitimer(signal.ITIMER_REAL, 3)
        try:
            return bool(grader.grade_answer(answer.strip(), truth))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if late:  # the grader itself takes any exception for "not equal"
                raise TooLong
    return grade


def suite_judges(name, scorer, code_extractor, path, grade=None):
    space = functions_of(path)

    def by(subset):
        evaluator = space["get_evaluator"](subset)

        def judge(reply, truth):
            found = evaluator["parse"](space["validate_text_input"](reply))
            right = found is not None and evaluator["evaluate"](found, truth)
            return None if found is None else str(found), 100.0 if right else 0.0
        return judge

    def boxed(reply, truth):
        found = space["parse_boxed_math"](reply)
        if grade is None:
            return found, None
        return found, 100.0 if found is not None and grade(found, truth) else 0.0

    def code(reply, truth):
        found = space["parse_code"](reply)
        return found, float(found == truth)

    flags = ["--scorer", scorer, "--ground-truth", "truth"]
    of_code = ["--scorer", "pass_at_1", "--extractor", code_extractor, "--ground-truth", "truth"]
    kinds = {"gpqa": "choice", "mmlu_pro": "choice", "aime": "number"}
    out = {f"{name}_{subset}": Judge(flags, {"dataset": subset}, by(subset), kind)
           for subset, kind in kinds.items()}
    out[f"{name}_math500"] = Judge(flags, {"dataset": "math500"}, boxed,
                                      "number" if grade is None else "math")
    out[f"{name}_code"] = Judge(of_code, {}, code, "code")
    return out


def llama_judges(path):
    """The program strips a reply and joins nltk's sentences; one sentence stays what it is."""
    space = functions_of(path)

    def by(metric):
        def judge(reply, truth):
            return None, space[metric](truth.strip(), reply.strip())["exact_match"]
        return judge

    flags = ["--scorer", "llama3_1_405b", "--ground-truth", "truth"]
    return {f"llama_{metric}": Judge(flags, {"metric": metric}, by(metric), metric)
            for metric in ("qa_em", "niah_em")}


def mixtral_judges(path):
    space = functions_of(path)

    def judge(reply, truth):
        found = space["maybe_remove_comma"](space["find_number"](reply.split("\nQ:")[0]))
        number = space["try_float"](found)
        right = number is not None and space["try_float"](truth) == number
        return found, float(right)

    flags = ["--scorer", "mixtral_8x7b", "--ground-truth", "truth"]
    return {"mixtral_gsm8k": Judge(flags, {"dataset": "GSM8K"}, judge, "number")}


SPACES = " " * 12 + "\n\n\n\t\r\v\u00a0\u202f\u2009\u3000\u0085\u001c\u2028\u200b"
ODD = "éſıİ\u212a²½٣５一_ß-–—:.,;!?()[]{}*'\"\\$#`~=&\u0301\ufeff\u200d😀"
FILLER = ["As we saw", "But then", "Consider (b)", "Because A is larger than B", "so",
          "Dividing by c", "I think a", "the choice", "Therefore", "It is option", "Let n = 12",
          "x", "Cases", "and", "thus 3", "Note [1]", "A larger n gives", "e.g. C-H bonds",
          "d orbitals", "Hence I get", "<think>", "</think>", "<think>so it is B", "答案：", "Ответ:",
          "الجواب", "| A | B |\n|---|---|", "- [x] C", "> quoted", "### Answer", "```", "~~D~~",
          "twenty-five", "two and a half", "5 cm", "25%", "$25", "(1, 2)", "[0,1)", "±3", "1/2",
          "Not A", "neither B nor C", "all of the above", "A and C", "A, B", "A/B", "①", "Ⓐ", "Ａ",
          "А", "&nbsp;", "&#68;", "\u202eD", "\r\n", "Answer: none", "N/A", "The answer cannot be"]
WORDS = ["Answer", "answer", "ANSWER", "Answers", "FINAL ANSWER", "Final  answer", "finalanswer",
         "The answer is", "The correct answer is", "Option", "Choice", "option", "the choice is",
         "anſwer", "FİNAL ANSWER", "My answer", "answered", "Answer_", "Correct Answer", "Antwort",
         "Final Answer"]
MARKS = ["", "", "", "", "*", "**", "***", "_", "__", "****", "*_", "`"]
SEPARATORS = [":", ":", ":", "", "", " ", "-", "–", " –", "=", ".", "::", " is", ":\\n", ": \n",
              ":*", "**:", ": $", ":("]
BRACKETS = [("", "")] * 6 + [("(", ")"), ("[", "]"), ("{", "}"), ("( ", " )"), ("(", ""),
                             ("\\(", "\\)"), ("\\text{", "}"), ("\\textbf{", "}"), ("$", "$"),
                             ("'", "'")]
ENDS = ["", "", "", ".", ")", "\n", " because", ",", "!", "**", "_", ": the third", ") four", "x",
        "é", " B", "\n\nC", ". D is wrong", "\\n", "1", "^2", ".0", "%"]
CHANNELS = ["<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|return|>",
            "<|end|>", "<|channel|>final 明<|message|>", "<|channel|>final537<|message|>",
            "<|start|>assistant", "<|channel|>final<|message", "<|channel|>final <|x|><|message|>"]
FENCES = ["```python", "```python\n", "```", "```\n", "```py\n", "```Python\n", "```PYTHON \n\n",
          "``", "```python3\n", "```cpp\n", "~~~\n", "```\npython\n", "```\npy \n \n "]
FORMS = [
    "Answer: D", "**D**", "The answer is D.", "The correct answer is **D**.", "(D)", "D", "D.",
    "D)", "\\boxed{D}", "ANSWER: D", "**Answer: D**", "**Answer:** D", "Answer: (D)",
    "Answer: **D**",
    "answer is (D)", "Option D", "Choice: D", "The final answer is $\\boxed{D}$.",
    "FINAL ANSWER: D", "Final Answer: D", "I would choose D.", "[D]", "$\\boxed{\\text{D}}$",
    "**D) four**", "Answer:\u202fD", "Answer – D", "__D__", "Answer D.", "d", "**Answer**: D",
]


def near_form(chance, letter):
    """An answer as a suite asks for it, but for one or two details."""
    word = chance.choice(["Answer", "answer", "Answers", "ANSWER", "Final Answer", "Option"])
    separator = chance.choice([":", ":", "", " :", "–", " -", "=", "."])
    space = chance.choice(["", " ", " ", chance.choice(SPACES)])
    mark = chance.choice(["", "", "*", "**", "_", "__"])
    form = chance.choice(["{m}{w}{s}{m}{_}{l}", "{m}{w}{m}{s}{_}{l}", "{w}{s}{_}({l})",
                          "{w}{s}{_}{m}{l}{m}", "{w}{s}{_}{l}", "{m}{w}{s}{_}{l}{m}",
                          "{m}{l}){_}it is{m}", "{m}{l}{m}", "{w}{s}{_}({_}{l}{_})", "{m}({l}){m}",
                          "({_}{l}{_})", "[{l}]"])
    text = form.format(w=word, s=separator, _=space, m=mark, l=letter)
    return text + chance.choice(["", "", ".", " ", "\n", ")", "x", "é", "_", " or B"])


def choice_piece(chance):
    letter = chance.choice("ABCDABCDABCDabcdEFGHIJefghijKZ\u0131\u0130")
    if chance.random() < 0.1:
        return chance.choice(FORMS).replace("D", letter)
    if chance.random() < 0.5:
        return near_form(chance, letter)
    opening, closing = chance.choice(BRACKETS)
    mark = chance.choice(MARKS)
    inner = f"{chance.choice(MARKS)}{opening}{letter}{closing}"
    word = chance.choice(WORDS) if chance.random() < 0.75 else ""
    parts = [mark, word, chance.choice([mark, ""]), chance.choice(SEPARATORS),
             chance.choice([mark, "", ""]), chance.choice(["", " ", " ", chance.choice(SPACES)]),
             inner, chance.choice([mark, ""]), chance.choice(ENDS)]
    if chance.random() < 0.15:
        command = chance.choice(["\\boxed{", "\\textbf{", "\\text{", "\\boxed{\\text{"])
        parts = [command, chance.choice(["", "x = ", "the "]), letter,
                 "}" * chance.choice([0, 1, 1, 1, 2])]
    return "".join(parts)


def number_piece(chance):
    digits = chance.choice([str(chance.randint(0, 40)), str(chance.randint(0, 1200)), "025", "٢٥",
                            "５", "1,234", "12.5", ".5", "-7", "1_0", "", "0" * 30 + "7", "9" * 25,
                            "²"])
    space = chance.choice(["", "", "", " ", chance.choice(SPACES)])
    return chance.choice([
       f"\\boxed{{{space}{digits}{space}}}", f"\\boxed{{{digits}", f"boxed{{x, {digits}}}",
        f"\\framebox{{{digits}}}", "\\boxed{}", f"\\boxed{{\\frac{{{digits}}}{{2}}}}", "\\boxed{ }",
        f"Answer:{space}{digits}", f"answer: {digits}.", f"Answer: {digits}é",
        f"**Answer: {digits}**", f"The answer is {digits}.", f"The answer is ${digits}",
        f"so {digits}", f"{digits}, {digits}", f"= -{digits}", f"\nQ: {digits}",
        "\\boxed{\\text{none}}", f"\\boxed{{{{{digits}}}}}"])


def code_piece(chance):
    body = chance.choice(["print(1)", "x = 2\nprint(x)", "", " ", "def f():\n    return 3", "py"])
    return chance.choice(FENCES) + body + chance.choice(["```", "\n```", "\n```\n", "", "``"])


def identifier(chance):
    alphabet = "0123456789abcdefABCDEF" * 6 + "éſ_²"
    lengths = [8, 4, 4, 4, 12]
    if chance.random() < 0.1:
        lengths[chance.randrange(5)] += chance.choice([-1, 1])
    return "-".join("".join(chance.choices(alphabet, k=n)) for n in lengths)


PIECES = {"choice": choice_piece, "number": number_piece, "code": code_piece,
          "niah_em": identifier,
          "qa_em": lambda chance: chance.choice(
              ["Answer: ", "Answer:", "Paris", "P a r i s", "paris", "the city", "|", "Answer: \n",
               "İ", "a|b", "rome"])}


def mutated(chance, text):
    letters = list(text)
    for _ in range(chance.choice([0, 0, 0, 0, 1, 1, 2, 4])):
        at = chance.randint(0, len(letters))
        kind = chance.randrange(5)
        if kind == 0:
            letters.insert(at, chance.choice(SPACES + ODD + "ABCDabcdISKF*_\n"))
        elif letters and kind == 1:
            del letters[at - 1]
        elif letters and kind == 2:
            letters[at - 1] = letters[at - 1].swapcase()
        elif letters and kind == 3:
            letters[at - 1] = chance.choice(SPACES + ODD)
        elif kind == 4:
            other = chance.randint(0, len(letters))
            letters[at:at] = letters[min(at, other):max(at, other)]
    return "".join(letters)


def math_row(chance):
    """A reply that boxes an answer, and the true one."""
    answer, truth = made_up_math.pair(chance)
    before = chance.choice(["", "", "So ", "\\boxed{1} or ", "<think>\\boxed{2}", "**Answer:** $"])
    after = chance.choice(["", "", ".", "$", "\n```", "</think>", " and \\boxed", "}"])
    return f"{before}\\boxed{{{answer}}}{after}", truth


def reply_of(chance, kind):
    if chance.random() < 0.01:
        return chance.choice(["", " ", "\n", "**", "\u202f", "['", "['']", "[\"D\"]",
        "['Answer: D']"])
    pieces = [PIECES[kind](chance) for _ in range(chance.choice([1, 1, 1, 2, 2, 3]))]
    pieces += chance.choices(FILLER, k=chance.choice([0, 0, 1, 2, 3]))
    if chance.random() < 0.15:
        pieces += chance.choices(CHANNELS, k=chance.choice([1, 2, 3]))
    chance.shuffle(pieces)
    text = chance.choice(["", " ", "\n", chance.choice(SPACES)]).join(pieces)
    if chance.random() < 0.05:
        text = chance.choice(["['{}']", '["{}"]', "['{}\"]", "{}\\n", "\\'{}\\'"]).format(
            text.replace("{", "").replace("}", ""))
    if chance.random() < 0.0005:  # the programs' own time grows with the square of some of these
        text = chance.choice(["wait. ", "(", "\n", "** ", "\\boxed{", "Answer"]) * 1000 + text
    text = mutated(chance, text)
    if kind in ("qa_em", "niah_em"):
        text = text.translate({ord(c): " " for c in ".!?"})  # one sentence (llama_judges)
    return text


TRUTHS = {
    "choice": ["A", "B", "C", "D", "choice1", "choice4", "d", " D", "", "I", "ı", "İ", "J", "AB"],
    "number": ["25", "025", " 7 ", "+12", "-7", "1_0", "٢٥", "25.0", "", "x", "1e1", "1,234", "0",
    "5"],
    "code": ["print(1)", ""],
    "qa_em": ["Paris", "paris|the city", "a|b", "Answer:", "Rome |", "İ", "the city of", " "],
}


def truth_of(chance, kind, found, reply):
    if kind == "niah_em":
        return " ".join([identifier(chance)] + [reply[:80]] * chance.choice([0, 1]))
    if found is not None and chance.random() < 0.5:
        return chance.choice([found, found, found.lower()])
    return chance.choice(TRUTHS[kind])


def made_up(name, judge, count, seed):
    chance = random.Random(f"{seed} {name}")
    rows = []
    while len(rows) < count:
        try:
            if judge.kind == "math":
                reply, truth = math_row(chance)
            else:
                reply = reply_of(chance, judge.kind)
                first, _ = judge.judge(reply, "x")
                truth = truth_of(chance, judge.kind, first, reply)
            found, score = judge.judge(reply, truth)
        except TooLong:
            continue
        rows.append((reply, truth, found, score))
    return rows


def compare_rows(assay, name, judge, count, seed):
    """The same for rows of more columns: scores alone. How many differ."""
    chance = random.Random(f"{seed} {name}")
    rows = []
    while len(rows) < count:
        columns, score = judge.row(chance)
        if score is not None:
            rows.append((columns, score))
    lines = [json.dumps(columns) + "\n" for columns, _ in rows]
    verdicts = scored(assay, lines, ["--scorer", judge.scorer])
    different = 0
    for line, (_, score), ours in zip(lines, rows, verdicts, strict=True):
        if ours["score"] is not None and abs(ours["score"] - score) < 1e-9:
            continue
        different += 1
        if different <= 10:
            print(f"  {name}: {line.strip()[:600]}\n    theirs {score}; ours {ours}")
    right = sum(score for _, score in rows) / len(rows)
    print(f"{name}: {len(rows)} rows, {different} differ (mean score {right:.3f})")
    return different


def our_verdicts(assay, judge, rows):
    columns = ({**judge.columns, "truth": truth, "reply": reply} for reply, truth, _, _ in rows)
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in columns)
    return scored(assay, lines, judge.flags)


def scored(assay, lines, flags):
    """The verdicts of `assay score` on these lines."""
    with tempfile.TemporaryDirectory() as folder:
        replies = pathlib.Path(folder) / "replies.jsonl"
        verdicts = pathlib.Path(folder) / "verdicts.jsonl"
        with replies.open("w", encoding="utf-8") as out:
            out.writelines(lines)
        subprocess.run([assay, "score", replies, *flags, "--verdicts", verdicts, "--json"],
                       check=True, stdout=subprocess.DEVNULL)
        with verdicts.open(encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]


def differs(theirs, ours):
    _, _, found, score = theirs
    if score is not None and ours["score"] != score:
        return True
    return found is not None and ours["extracted"] != found


def known(name, reply, truth):
    return any(judge == name and test(reply, truth) for judge, test, _ in KNOWN)


def compare(assay, name, judge, rows):
    """Prints what differs; how many, and how many of them are known."""
    different = excused = 0
    for theirs, ours in zip(rows, our_verdicts(assay, judge, rows), strict=True):
        no_answer = judge.kind not in ("qa_em", "niah_em") and theirs[2] is None
        if not differs(theirs, ours) and not (no_answer and ours["extracted"] is not None):
            continue
        if known(name, theirs[0], theirs[1]):
            excused += 1
            continue
        different += 1
        if different <= 10:
            print(f"  {name}: reply {theirs[0][:300]!r}, truth {theirs[1]!r}\n"
                  f"    theirs {theirs[2]!r} {theirs[3]}; ours {ours}")
    print(f"{name}: {len(rows)} replies, {different} differ, {excused} known")
    return different


def kept(name, rows, count):
    """Short rows, of as many outcomes as there are."""
    groups = {}
    for row in sorted(rows, key=lambda row: len(row[0])):
        if 3 < len(row[0]) <= 90:
            groups.setdefault((row[2], row[3], row[1]), []).append(row)
    out = []
    for depth in range(count):
        for rows_of in groups.values():
            if depth < len(rows_of) and len(out) < count:
                out.append([name, *rows_of[-1 - depth]])
    return out


def form_rows(judge):
    """Thirty ways in which people write that the answer is D."""
    return [(form, truth, *judge.judge(form, truth))
            for form in FORMS for truth in ("D", "choice4")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inference", type=pathlib.Path, required=True)
    parser.add_argument("--endpoints", type=pathlib.Path, required=True)
    parser.add_argument("--prm800k", type=pathlib.Path)
    parser.add_argument("--bfcl-eval", type=pathlib.Path)
    parser.add_argument("--assay", default="build/release/assay")
    parser.add_argument("--replies", type=int, default=100_000, help="for each judge")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--kept", type=int, default=200, help="for each judge")
    parser.add_argument("judges", nargs="*", help="by name; none: all")
    options = parser.parse_args()
    judges = {**client_judges(options.endpoints),
              **suite_judges("deepseek_r1", "deepseek_r1", "first_python_code",
                             options.inference / DEEPSEEK, math_grader(options.prm800k)),
              **suite_judges("gpt_oss", "gpt_oss", "final_channel_code",
                             options.inference / GPT_OSS),
              **llama_judges(options.inference / LLAMA),
              **mixtral_judges(options.inference / MIXTRAL)}
    of_rows = made_up_calls.judges(options.endpoints, options.bfcl_eval)
    for name in options.judges:
        if name not in judges and name not in of_rows:
            parser.error(f"no judge '{name}'; there are {', '.join([*judges, *of_rows])}")
    different = 0
    vectors = []
    for name, judge in judges.items():
        if options.judges and name not in options.judges:
            continue
        rows = made_up(name, judge, options.replies, options.seed)
        if judge.kind == "choice":
            rows += form_rows(judge)
            vectors += [[name, *row] for row in form_rows(judge)]
        different += compare(options.assay, name, judge, rows)
        vectors += kept(name, rows, options.kept)
    for name, judge in of_rows.items():
        if not options.judges or name in options.judges:
            different += compare_rows(options.assay, name, judge, options.replies, options.seed)
    for judge, _, reason in KNOWN:
        print(f"known of {judge}: {reason}")
    if options.keep:
        lines = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in vectors)
        options.keep.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
