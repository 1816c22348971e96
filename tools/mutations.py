"""What one line of C++ becomes when one thing in it is wrong: the kinds that tools/mutate.py draws.

`words_of_line(raw, code, fields)` gives all lines that one change of a line gives; `code` is the
line with comments and strings blanked out, so that a column means the same in both. A change that
is no C++ costs nothing but the time of a compiler: mutate.py counts it as not compiled.
"""

import re

# Names of which one can stand for the other without the compiler's objecting.
SWAPS = [
    ("arrival", "read"), ("due", "sent"), ("first_token", "first_visible"),
    ("first_token", "last_token"), ("first_byte", "first_event"), ("issued", "completed"),
    ("completed", "failed"), ("prompt_tokens", "completion_tokens"),
    ("reasoning_tokens", "cached_tokens"), ("started", "ended"), ("min", "max"),
    ("front", "back"), ("begin", "end"),
]
OPERATORS = [
    (r"(?<![<>=!\-+*/&|^])<(?![<=>])", ["<=", ">="], "spaced"),
    (r"(?<![<>=!\-+*/&|^])>(?![>=])", [">=", "<="], "spaced"),
    (r"<=(?!>)", ["<", ">"], None), (r">=", [">", "<"], None),
    (r"==", ["!="], None), (r"!=", ["=="], None),
    (r"&&", ["||"], None), (r"\|\|", ["&&"], None),
    (r"\+=", ["-="], None), (r"-=", ["+="], None),
    (r"(?<=[\w)\]]) \+ (?=[\w(])", [" - "], None), (r"(?<=[\w)\]]) - (?=[\w(])", [" + "], None),
    (r"(?<=[\w)\]]) \* (?=[\w(])", [" / "], None), (r"(?<=[\w)\]]) / (?=[\w(])", [" * "], None),
    (r"\+\+(?=\w)", ["--"], None), (r"\btrue\b", ["false"], None), (r"\bfalse\b", ["true"], None),
    (r"(?<![\w.'])(\d+)(?![\w.'])", ["+1"], "number"),
    (r"!(?=[\w(])", [""], None),
]
CHOICE = re.compile(r"\? ([\w.:'\-]+) : ([\w.:'\-]+)")
STATEMENT = re.compile(r"^\s+(?!return|break|continue|case|default|if|for|while|using|const |auto "
                       r"|CHECK|static|struct|enum|friend|delete|throw|TRY|\}"
                       r"|ASSIGN_OR_RETURN\([^,]*\w \w)[\w*+\-(][^{}]*;$")

# Declarations: without one, nothing compiles.
WITH_VALUE = re.compile(r"^(\s*(?:const )?(?!return\b|delete\b|throw\b|else\b)"
                        r"[\w:]+(?:<[^;=]*>)?[*&]?(?: const)? \w+ = )([^;]*)(;)$")
DECLARES = re.compile(r"^[\w:<>,*& ]+ \w+(\[[^\]]*\])*(\(.*\)( const)?)?;$")

CONDITION = re.compile(r"^(\s*(?:\} else )?if \()(.*)(\)\s*(?:\{|return.*;|continue;|break;)?)$")
ROUNDS = [("round", "floor"), ("llround", "floor"), ("lround", "floor"), ("ceil", "floor"),
          ("floor", "ceil"), ("abs", ""), ("fabs", ""), ("llabs", "")]
FIELD = re.compile(r"(?<![\w.>:)\]])((?:\w+(?:\.|->))+)([a-z]\w*)\b(?![(<:])")


def operators(raw, code):
    """One operator, number or literal for another."""
    for pattern, replacements, how in OPERATORS:
        for match in re.finditer(pattern, code):
            if how == "spaced" and (code[match.start() - 1] != " "
                                    or code[match.end():match.end() + 1] != " "):
                continue  # a template's bracket
            for replacement in replacements:
                if how == "number":
                    if int(match.group()) > 2:
                        continue  # a size or a limit: one more of it means nothing
                    replacement = str(int(match.group()) + 1)
                yield raw[:match.start()] + replacement + raw[match.end():]


def names(raw, code):
    """One instant or field for another, the two sides of a choice."""
    for one, other in SWAPS:
        for old, new in ((one, other), (other, one)):
            for match in re.finditer(rf"(?<=[.>:]){old}\b(?!\s*=[^=])", code):
                yield raw[:match.start()] + new + raw[match.end():]
    for match in CHOICE.finditer(code):
        one, other = (raw[slice(*match.span(side))] for side in (1, 2))
        yield f"{raw[:match.start()]}? {other} : {one}{raw[match.end():]}"


def left_out(raw, code):
    """A return, a whole statement left out; a condition turned round."""
    if re.fullmatch(r"\s+(return|continue);", code.rstrip()):
        yield ""
    match = condition_of(code)
    if match and match.group(2)[0] != "!":
        start, end = match.span(2)
        yield f"{raw[:start]}!({raw[start:end]}){raw[end:]}"
    declared = code.rstrip().endswith(("= delete;", "= default;"))
    word = code.strip()
    declared = declared or WITH_VALUE.match(word) or DECLARES.match(word)
    if STATEMENT.match(code) and not declared and code.count("(") == code.count(")"):
        yield ""


def condition_of(code):
    match = CONDITION.match(code)
    return match if match and "=" not in re.sub(r"[=!<>]=", "", match.group(2)) else None


def closing(code, opened):
    """The place of the bracket that closes the one at `opened`; None where the line does not."""
    depth = 0
    for at in range(opened, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    return None


def operand(code, at, step, ends):
    """How far an operand goes from `at`, to the right (step 1) or to the left (-1): to one of
    `ends` (a pattern at its level), or to the bracket that holds it. None where the line ends
    first."""
    depth = 0
    opens, closes = ("([{", ")]}") if step > 0 else (")]}", "([{")
    while 0 <= at < len(code):
        if depth == 0 and (code[at] in closes or code[at] in ",;?" or ends.match(code, at)):
            return at
        depth += (code[at] in opens) - (code[at] in closes)
        at += step
    return None


LOGICAL = re.compile(r"&&|\|\||return\b| : | = |\? ")
SUM = re.compile(r"&&|\|\||return\b| [<>=!+\-]=? |<=|>=|==|!=| : | << ")
PRODUCT = re.compile(r"&&|\|\||return\b| [<>=!+\-*/%]=? |<=|>=|==|!=| : | << ")


def conditions(raw, code):
    """A condition, or a part of one, that always or never holds."""
    match = condition_of(code)
    if match:
        start, end = match.span(2)
        for side in ("|| true", "&& false"):
            yield f"{raw[:start]}({raw[start:end]}) {side}{raw[end:]}"
    for match in re.finditer(r"&&|\|\|", code):
        always = "true" if match.group() == "&&" else "false"
        if (end := operand(code, match.end(), 1, LOGICAL)) is not None:
            yield f"{raw[:match.end()]} {always}{' ' if raw[end - 1] == ' ' else ''}{raw[end:]}"
        start = operand(code, match.start() - 1, -1, LOGICAL)
        if start is not None:
            start += len(re.match(r"(&&|\|\||return\b|[:=?]| [:=?]|.)?", code[start:]).group())
            yield f"{raw[:start]} {always} {raw[match.start():]}"
        elif code[:match.start()].count("(") == code[:match.start()].count(")"):
            indent = re.match(r"\s*", code).group()  # the line begins with the operand
            yield f"{indent}{always} {raw[match.start():]}"


def terms(raw, code):
    """A term of a sum, a factor, a bound of a figure or its rounding lost."""
    for match in re.finditer(r"(?<=[\w)\]]) [+-] (?=[\w(])", code):
        if (end := operand(code, match.end(), 1, SUM)) is not None:
            yield raw[:match.start()] + raw[end:]
    for match in re.finditer(r"(?<=[\w)\]]) [*/] (?=[\w(])", code):
        if (end := operand(code, match.end(), 1, PRODUCT)) is not None:
            yield raw[:match.start()] + raw[end:]
    for match in re.finditer(r"\bstd::(max|min|clamp)(<[^()]*>)?\(", code):
        if (end := closing(code, match.end() - 1)) is None:
            continue
        inner = split(code, match.end(), end)
        for start, stop in inner[:1] if match.group(1) == "clamp" else inner:
            one = raw[start:stop].strip()
            if one.startswith("{"):
                continue
            yield f"{raw[:match.start()]}({one}){raw[end + 1:]}"
        if match.group(1) == "clamp" and len(inner) == 3:
            value, low, high = (raw[start:stop].strip() for start, stop in inner)
            kind = match.group(2) or ""
            yield f"{raw[:match.start()]}std::max{kind}({value}, {low}){raw[end + 1:]}"
            yield f"{raw[:match.start()]}std::min{kind}({value}, {high}){raw[end + 1:]}"
    for old, new in ROUNDS:
        for match in re.finditer(rf"\bstd::{old}\(", code):
            yield raw[:match.start()] + (f"std::{new}(" if new else "(") + raw[match.end():]


def split(code, start, end):
    """The spans between the commas of a list of arguments."""
    spans, depth, begun = [], 0, start
    for at in range(start, end):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if code[at] == "," and depth == 0:
            spans.append((begun, at))
            begun = at + 1
    return [*spans, (begun, end)]


def places(raw, code, fields):
    """Another element, another field of the same thing, two arguments the other way round, nothing
    given back, a loop ended early or late."""
    for match in re.finditer(r"(?<=[\w)\]])\[([a-z]\w*)\]", code):
        yield f"{raw[:match.start()]}[0]{raw[match.end():]}"
    for match in FIELD.finditer(code):
        others = [name for name in fields.get(match.group(1), []) if name != match.group(2)]
        later = [name for name in others if name > match.group(2)]
        if others and not re.match(r"\s*=[^=]", code[match.end():]):
            yield raw[:match.start(2)] + (later or others)[0] + raw[match.end():]
    for match in re.finditer(r"\w\((\w+), (\w+)(?=[,)])", code):
        either = re.search(r"std::(min|max)(<[^()]*>)?$", code[:match.start() + 1])
        if match.group(1) != match.group(2) and not either:
            yield (raw[:match.start(1)] + f"{match.group(2)}, {match.group(1)}"
                   + raw[match.end(2):])
    match = re.match(r"^(.*\breturn )([^;{}]+)(;.*)$", code)
    if match and not re.fullmatch(r"false|nullptr|0|0\.0|\"\s*\"|std::nullopt|true",
                                  match.group(2)):
        yield raw[:match.start(2)] + "{}" + raw[match.end(2):]
        if re.search(r"[=!<>]= | [<>] |&&|\|\|", match.group(2)):
            yield raw[:match.start(2)] + "true" + raw[match.end(2):]
    for old, new in (("break", "continue"), ("continue", "break")):
        if re.search(rf"(^|\) |\{{ )\b{old};", code):
            yield re.sub(rf"\b{old};", f"{new};", raw)


def fields_of(code):
    """The fields that a file names of each thing: {"reply.": [fields in order]}."""
    found = {}
    for line in code:
        for match in FIELD.finditer(line):
            found.setdefault(match.group(1), set()).add(match.group(2))
    return {thing: sorted(names_) for thing, names_ in found.items()}


def words_of_line(raw, code, fields):
    """All lines that one change of this line gives."""
    yield from operators(raw, code)
    yield from names(raw, code)
    yield from left_out(raw, code)
    yield from conditions(raw, code)
    yield from terms(raw, code)
    yield from places(raw, code, fields)
