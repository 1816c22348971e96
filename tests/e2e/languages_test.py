"""One service in several languages: each locale and modality of the rows has figures of its own,
with what the tokenizer costs it, in the summary, the report and the explorer."""

import json

ENGLISH = "How long is the way from the sea to the hills"
CHINESE = "从大海到山丘的路有多长"


def rows(folder):
    picture = [{"type": "text", "text": "What is it?"},
               {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    made = [{"prompt": f"{ENGLISH} {i}", "locale": "en_us"} for i in range(8)]
    made += [{"prompt": f"{CHINESE}{i}", "locale": "zh_cn"} for i in range(8)]
    made += [{"prompt": picture, "locale": "en_us"} for _ in range(4)]
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def test_each_language_has_its_latencies_and_its_tokens_a_character(assay, endpoint, explorer,
                                                                    tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", 8)
    done = assay("run", "--endpoint", server.url, "--model", "m", "--dataset", rows(tmp_path),
                 "--samples", 40, "--concurrency", 4, "--report-dir", tmp_path / "run", "--quiet",
                 "--json", "--keep-text", "on", "--allow-client-limited").json()
    axes = {(one["axis"], one["value"]): one for one in done["axes"]}
    assert list(axes) == [("locale", "en_us"), ("locale", "zh_cn"), ("modality", "text"),
                          ("modality", "text+picture")]
    for axis in ("locale", "modality"):
        of = [one for key, one in axes.items() if key[0] == axis]
        assert sum(one["ended"] for one in of) == 40
        assert sum(one["ttft"]["count"] for one in of) == 40
    # A prompt's characters are code points, and each is asked as often as the plan says.
    chinese = axes["locale", "zh_cn"]
    assert chinese["ended"] == 16 and chinese["prompts"]["characters"] == 16 * len(CHINESE + "0")
    for one in axes.values():
        for cost in (one["prompts"], one["replies"]):
            assert cost["tokens_per_character"] == cost["tokens"] / cost["characters"]
    # The folder alone gives the same, and says it to a person.
    assert assay("report", tmp_path / "run", "--json").json()["axes"] == done["axes"]
    text = " ".join(assay("report", tmp_path / "run").out.split())
    assert "zh_cn: 16 queries; TTFT P50" in text and "tokens a character of the prompt" in text
    assay("verify", tmp_path / "run")
    assay("import", tmp_path / "run", "--store", tmp_path / "s.db")
    page = explorer("--store", tmp_path / "s.db")
    (curve,) = page.get("curves?model=m")["items"]
    assert page.get(f"runs/{curve['points'][0]['id']}")["axes"] == done["axes"]


def test_a_run_of_one_kind_of_row_has_no_axes(assay, endpoint, tmp_path):
    server = endpoint()
    done = assay("run", "--endpoint", server.url, "--model", "m", "--samples", 4, "--report-dir",
                 tmp_path / "run", "--quiet", "--json", "--allow-client-limited").json()
    assert "axes" not in done


def test_a_safety_runs_locales_have_latencies_and_sealed_prompts_leave_none(assay, endpoint,
                                                                            tmp_path):
    server = endpoint("--ttft", "1ms", "--osl", 4)
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(
        json.dumps({"prompt_uid": f"{hazard}-{locale}-{i}", "hazard": hazard, "locale": locale,
                    "prompt": f"{text} {i}"}) + "\n"
        for hazard in ("clr", "cnr", "cnt") for locale, text in (("en_us", ENGLISH),
                                                                 ("zh_cn", CHINESE))
        for i in range(3)))
    flags = ["--endpoint", server.url, "--model", "m", "--quiet", "--json",
             "--allow-client-limited"]
    done = assay("safety", "run", *flags, "--prompts", prompts, "--report-dir",
                 tmp_path / "run").json()
    assert [one["locale"] for one in done["locales"]] == ["en_us", "zh_cn"]
    summary = json.loads(
        (tmp_path / "run/answers/01/performance/result_summary.json").read_text())
    assert [one["ended"] for one in summary["axes"] if one["axis"] == "locale"] == [9, 9]
    assay("safety", "key", tmp_path / "k")
    assay("safety", "seal", prompts, "--seal-key", tmp_path / "k", "--out", tmp_path / "set.sealed")
    assay("safety", "run", *flags, "--prompts", tmp_path / "set.sealed", "--seal-key",
          tmp_path / "k", "--report-dir", tmp_path / "sealed")
    summary = json.loads(
        (tmp_path / "sealed/answers/01/performance/result_summary.json").read_text())
    assert "axes" not in summary
