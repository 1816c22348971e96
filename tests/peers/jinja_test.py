"""Chat templates against jinja2, with the settings under which the public libraries render them."""

import calendar
import datetime
import json
import os
import pathlib
import subprocess
import time

import jinja2
import jinja2.ext
import jinja2.sandbox
import pytest


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    return env


TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "Weather \"now\" in a città",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"},
                                                    "days": {"type": "integer"}},
                   "required": ["city"]}}}]
CALL = {"id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": {"city": "Köln", "days": 2, "x": None,
                                                          "deep": [1.5, True, {"a": "b"}]}}}
CONVERSATIONS = {
    "hello": {"messages": [{"role": "user", "content": "Hello there!  "}]},
    "system": {"messages": [{"role": "system", "content": " Be brief.\n"},
                            {"role": "user", "content": "Hi\n\nyou"}]},
    "turns": {"messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"},
                           {"role": "user", "content": "3"}]},
    "thinking": {"messages": [{"role": "user", "content": "1"},
                              {"role": "assistant", "content": "<think>\nhm\n</think>\n\n2",
                               "reasoning_content": "hm"},
                              {"role": "user", "content": "3"}], "enable_thinking": False},
    "tools": {"messages": [{"role": "system", "content": "Use tools."},
                           {"role": "user", "content": "Weather?"},
                           {"role": "assistant", "content": "", "tool_calls": [CALL]},
                           {"role": "tool", "tool_call_id": "call_1", "content": "{\"t\": 7}"},
                           {"role": "tool", "tool_call_id": "call_2", "content": "dry"},
                           {"role": "user", "content": "Thanks"}], "tools": TOOLS},
    "parts": {"messages": [{"role": "user", "content": [
        {"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "text", "text": " é漢😀"}]}]},
    "empty": {"messages": [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]},
}

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "chat_templates"
# Written for this test after the public models' patterns.
TEMPLATES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DATA.glob("*.jinja"))}
EXPRESSIONS = (DATA / "expressions.txt").read_text(encoding="utf-8").splitlines()


def run(tmp_path, template, cases, *flags):
    """What `assay tokens --template` says: each case's text or {"error": why}, and its talk."""
    (tmp_path / "t.jinja").write_text(template, encoding="utf-8")
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (tmp_path / "requests.jsonl").write_text(lines, encoding="utf-8")
    done = subprocess.run([os.environ["ASSAY_BIN"], "tokens", tmp_path / "requests.jsonl",
                           "--template", tmp_path / "t.jinja", *flags], capture_output=True,
                          check=False)
    assert done.returncode in (0, 1, 2), done
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line], \
        done.stderr.decode()


def outcome(env, template, case):
    try:
        return env.from_string(template).render(**case)
    except (jinja2.exceptions.TemplateError, TypeError, ValueError, KeyError):
        return None


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_render_the_same(tmp_path, name):
    env = environment()
    cases = []
    for case in CONVERSATIONS.values():
        for prompt in (True, False):
            cases.append({"bos_token": "<s>", "eos_token": "</s>", "tools": None,
                          "add_generation_prompt": prompt, **case})
    want = [outcome(env, TEMPLATES[name], case) for case in cases]
    assert any(want)
    got, _ = run(tmp_path, TEMPLATES[name], cases)
    for case, one, other in zip(cases, want, got):
        assert (None if isinstance(other, dict) else other) == one, (case["messages"], other)


def test_expressions_are_worth_the_same(tmp_path):
    env = environment()
    for expression in EXPRESSIONS:
        template = ("{{ " + expression + " }}|"
                    "{% if (" + expression + ") %}t{% else %}f{% endif %}")
        want = outcome(env, template, {})
        got, said = run(tmp_path, template, [{}])
        assert got == [want], f"{expression}: {got!r} {said}, jinja2 {want!r}"


BROKEN = ["{{ x.y.z }}", "{{ 'a' + 1 }}", "{{ [1] < 2 }}", "{% for x in 5 %}{% endfor %}",
          "{{ f() }}",
          "{{ 1 / 0 }}", "{{ 'a' | nope }}", "{{ 1 is nope }}", "{% set x.y = 1 %}",
          "{{ raise_exception('stop') }}", "{{ [1].append(2) }}", "{% if %}{% endif %}",
          "{{ 1 + }}",
          "{{ [1] | map('string') | tojson }}", "{{ [1] | select | length }}", "{{ {[1]: 2} }}",
          "{{ [1] in {1: 2} }}", "{{ {1: 2, 'a': 3} | tojson(sort_keys=true) }}",
          "{{ {(1,): 2} | tojson }}",
          "{% for %}", "{% endif %}", "{{ 'a }}", "{{ (1 }}", "{% macro f(%}{% endmacro %}"]


@pytest.mark.parametrize("template", BROKEN)
def test_what_jinja_refuses_is_an_error_with_a_line(tmp_path, template):
    env = environment()
    with pytest.raises((jinja2.exceptions.TemplateError, TypeError, ZeroDivisionError)):
        env.from_string(template).render()
    got, said = run(tmp_path, "\n" + template, [{}])
    assert "t.jinja:2" in str(got) + said, (got, said)


def test_the_time_of_a_template_is_what_it_says(tmp_path):
    env = environment()
    env.globals["strftime_now"] = datetime.datetime(2026, 11, 3, 4, 5, 6).strftime
    template = "Today: {{ strftime_now('%d %b %Y, %H:%M:%S') }}"
    seconds = calendar.timegm((2026, 11, 3, 4, 5, 6))
    got, said = run(tmp_path, template, [{}], "--now", str(seconds))
    assert got == [env.from_string(template).render()]
    assert "2026-11-03T04:05:06" in said and "--now" in said
    before = time.time()
    got, said = run(tmp_path, "{{ strftime_now('%s') }}", [{}])
    assert "the machine's time" in said
    assert run(tmp_path, "{{ 'x' }}", [{}])[1] == ""
    year = run(tmp_path, "{{ strftime_now('%Y') }}", [{}])[0][0]
    assert int(year) in (time.gmtime(before).tm_year, time.gmtime().tm_year)
