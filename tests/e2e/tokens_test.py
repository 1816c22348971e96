"""The headline never rests on a token count that the reply contradicts.

`assay endpoint` makes 20 tokens a reply, 2 ms apart, and says something else of them. How long a
reply took is the machine's affair; how many tokens that time is divided by is what is tested here.
"""

import json

import pytest

TOKENS = 20
REPLIES = 6
INNOCENT_OR_NOT = None  # a busy machine may make a client guilty in truth


@pytest.fixture
def measure(assay, endpoint, tmp_path):
    """measure(endpoint's flags, run's flags) -> result_summary.json, and what was printed."""

    def go(served, *asked, name="run"):
        server = endpoint("--ttft", "2ms", "--itl", "2ms", "--osl", TOKENS, *served)
        folder = tmp_path / name
        done = assay("run", "--endpoint", server.url, "--model", "m", "--samples", REPLIES,
                     "--concurrency", 1, "--report-dir", folder, *asked,
                     code=INNOCENT_OR_NOT)
        summary = json.loads((folder / "performance/result_summary.json").read_text())
        assert summary["n_samples_completed"] == REPLIES, done.err
        return summary, done.out + done.err

    return go


def quirks(*names):
    return [flag for name in names for flag in ("--quirk", name)]


def tokens_after_first(summary):
    """By which number of tokens each reply's time after its first fragment was divided."""
    spent = summary["latency"]["total"] - summary["ttft"]["total"]
    return spent / summary["tpot"]["total"]


def check_rate(summary, tokens):
    assert summary["output_sequence_lengths"]["total"] == tokens * REPLIES
    seconds = summary["duration_ns"] / 1e9
    assert summary["system_tps"] == pytest.approx(tokens * REPLIES / seconds, rel=1e-6)
    assert summary["tps_per_user"] == pytest.approx(
        1e9 / summary["tpot"]["percentiles"]["90.0"], rel=1e-6)


def test_an_honest_endpoint_is_taken_at_its_word(measure):
    summary, said = measure([])
    check_rate(summary, TOKENS)
    assert tokens_after_first(summary) == pytest.approx(TOKENS - 1)
    tokens = summary["assay"]["tokens"]
    assert tokens["source"] == "usage"
    assert tokens["contradicted"]["replies"] == 0
    assert tokens["replies_by"]["usage"] == REPLIES
    assert "contradict" not in said


@pytest.mark.parametrize("quirk, kind", [("usage-inflated", "above_limit"),
                                         ("usage-zero", "below_bytes")])
def test_a_count_that_cannot_be_enters_no_figure(measure, quirk, kind):
    summary, said = measure(quirks(quirk))
    check_rate(summary, TOKENS)
    assert tokens_after_first(summary) == pytest.approx(TOKENS - 1)
    tokens = summary["assay"]["tokens"]
    assert tokens["source"] == "fragments"
    assert tokens["contradicted"]["replies"] == tokens["contradicted"][kind] == REPLIES
    assert tokens["contradicted"]["counted"] == TOKENS * REPLIES
    assert f"contradicts the reply in {REPLIES} of {REPLIES} replies" in " ".join(said.split())


def test_growing_usage_tells_the_size_of_a_first_burst(measure):
    summary, _ = measure(quirks("first-burst", "usage-every-event"))
    check_rate(summary, TOKENS)
    assert tokens_after_first(summary) == pytest.approx(TOKENS - 8)
    assert not summary["assay"]["tokens"]["first_fragment_taken_for_one"]
    blind, said = measure(quirks("first-burst"), name="blind")
    assert tokens_after_first(blind) == pytest.approx(TOKENS - 1)
    assert "TPOT takes the first" in " ".join(said.split()), "what it cannot know it says"


def test_choices_are_added_in_throughput_and_apart_in_speed(measure):
    summary, _ = measure([], "--extra-body", '{"n": 2}')
    check_rate(summary, 2 * TOKENS)
    assert summary["tpot"].get("percentiles")
    tokens = summary["assay"]["tokens"]
    assert tokens["replies_of_several_choices"] == REPLIES
    # Two choices side by side: two values a reply, each of some 19 tokens and not of 39.
    assert 2 * (TOKENS - 1) * 0.9 < 2 * tokens_after_first(summary) * 2 < 2 * (TOKENS - 1) * 1.5


def test_whole_replies_of_several_choices_are_counted_whole(measure):
    summary, _ = measure([], "--extra-body", '{"n": 3}', "--streaming", "off")
    assert summary["output_sequence_lengths"]["total"] == 3 * TOKENS * REPLIES
    assert summary["assay"]["tokens"]["contradicted"]["replies"] == 0


def test_hidden_reasoning_is_apart(measure):
    summary, said = measure(["--reasoning", "0.5", *quirks("hidden-reasoning")])
    check_rate(summary, TOKENS // 2)
    assert tokens_after_first(summary) == pytest.approx(TOKENS // 2 - 1)
    assert summary["assay"]["tokens"]["hidden"] == TOKENS // 2 * REPLIES
    assert summary["assay"]["tokens"]["contradicted"]["replies"] == 0
    assert "tokens of reasoning" in " ".join(said.split())


@pytest.mark.parametrize("quirk, field, words", [
    ("empty-reply", "empty_replies", "held nothing at all"),
    ("not-streamed", "not_streamed", "came as one JSON object though a stream was asked for"),
    ("goes-on-after-done", "went_on_after_done", "went on after [DONE]")])
def test_replies_that_are_not_what_was_asked_are_warned_of(measure, quirk, field, words):
    summary, said = measure(quirks(quirk))
    assert summary["assay"]["tokens"][field] == REPLIES
    assert words in " ".join(said.split())
    if quirk == "goes-on-after-done":
        check_rate(summary, TOKENS)


def test_runs_that_rest_on_different_evidence_are_not_compared(assay, measure, tmp_path):
    for name, served in (("honest", []), ("inflated", quirks("usage-inflated"))):
        measure(served, name=name)
    done = assay("compare", tmp_path / "honest", tmp_path / "inflated", code=6)
    assert "tokens are not counted alike" in done.out + done.err
