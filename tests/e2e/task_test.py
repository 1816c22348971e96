"""Tasks in a run: their prompts are asked after the measurement, and their replies are judged.

The endpoint answers common words. What is found in such a reply is known: a pattern that is not
there, and what the task says in its place.
"""

import json

import pytest

TASK = """task: mine
dataset: {file: mine.jsonl, columns: [question, wanted]}
prompt: 'Q: {{question}} costs $X. A:'
few_shot: {count: 1, answer: ' {{wanted}}', separator: ' | '}
generation: {max_new_tokens: 5, temperature: 0}
scores:
  - {name: always, metric: exact_match, truth: '{{wanted}}',
     extract: [{regex: 'zzz', fallback: 'yes'}]}
  - {name: never, metric: exact_match, truth: '{{wanted}}', extract: [{regex: 'zzz'}]}
"""


@pytest.fixture
def task(tmp_path):
    """A task of four rows, of which half are right by its first score."""
    (tmp_path / "mine.jsonl").write_text("".join(
        json.dumps({"question": f"number {i}", "wanted": "yes" if i % 2 else "no"}) + "\n"
        for i in range(4)))
    (tmp_path / "mine.yaml").write_text(TASK)
    return tmp_path / "mine.yaml"


def run(assay, endpoint, folder, *more, code=0):
    return assay("run", "--endpoint", endpoint("--ttft", "1ms", "--itl", "1ms", "--osl", 8).url,
                 "--model", "m", "--concurrency", 2, "--report-dir", folder, "--quiet", "--json",
                 "--allow-client-limited", *more, code=code)


def test_a_task_is_asked_after_the_measurement_and_scored(assay, endpoint, task, tmp_path):
    folder = tmp_path / "run"
    summary = run(assay, endpoint, folder, "--task", task, "--isl", 8, "--samples", 6,
                  "--events-jsonl").json()
    assert summary["n_samples_issued"] == 6
    (entry,) = summary["accuracy"]["accuracy_scores"]
    assert entry["dataset_name"] == entry["task"] == "mine" and entry["scorer"] == "task"
    assert entry["score"] == {"always": 0.5, "never": 0}
    assert entry["complete"] is True and entry["total_samples"] == 4
    sure = entry["uncertainty"]["always"]
    assert sure["interval"] == pytest.approx([0.1500, 0.8500], abs=1e-4)
    asked = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    prompts = [one["data"][1] for one in asked if one["event_type"] == "sample.issued"]
    assert len(prompts) == 10
    # In the file's order, each with an example that is another row.
    assert prompts[6:] == [
        f"Q: number {int(i == 0)} costs $X. A: {'yes' if i == 0 else 'no'} | "
        f"Q: number {i} costs $X. A:" for i in range(4)]
    assert assay("verify", folder).code == 0
    # The run folder has the task, so its file is not needed any more.
    task.unlink()
    verdicts = tmp_path / "verdicts.jsonl"
    again = assay("score", folder, "--json", "--verdicts", verdicts)
    assert again.json() == summary["accuracy"] and "no longer make the plan" not in again.err
    judged = [json.loads(line) for line in verdicts.read_text().splitlines()]
    assert sorted((one["sample"], one["extracted"], one["truth"], one["score"])
                  for one in judged) == [(0, "yes", "no", 0), (1, "yes", "yes", 1),
                                         (2, "yes", "no", 0), (3, "yes", "yes", 1)]
    assert assay("verify", folder).code == 0


def test_the_report_shows_each_score_and_each_judged_reply(assay, endpoint, task, tmp_path):
    folder = tmp_path / "run"
    run(assay, endpoint, folder, "--task", task)
    shown = json.loads((folder / "accuracy" / "judged_replies.json").read_text())
    assert [one["dataset"] for one in shown] == ["mine"]
    assert shown[0]["counts"] == {"right": 2, "partly": 0, "wrong": 2, "nothing": 0,
                                  "unanswered": 0}
    assert all(one["reply"] and one["reply_bytes"] == len(one["reply"].encode())
               for one in shown[0]["replies"])
    pages = [(folder / "report.html").read_text()]
    assay("report", folder, "--html", tmp_path / "page.html")
    pages.append((tmp_path / "page.html").read_text())
    # Judged again by another task, which finds no answer: the folder's page says that.
    task.write_text(TASK.replace(", fallback: 'yes'", "").replace("Q:", "another prompt:"))
    assert "no longer make the plan" not in assay("score", folder, "--task", task).err
    again = (folder / "report.html").read_text()
    for page in pages:
        assert "<td>always</td><td>0.5</td><td>0.15 to 0.85 (95 %, wilson)</td>" in page
        assert "4 of 4 replies" in page and ">right (2)<" in page and ">wrong (2)<" in page
        assert page.count("<tr class=\"wrong\">") == 2 and "<script" not in page
    assert "<td>always</td><td>0</td>" in again and ">no answer found (4)<" in again
    markdown = assay("report", folder, "--markdown").out
    assert "## Scores" in markdown and "| mine | always | 0 |" in markdown
    assert assay("verify", folder).code == 0


def test_a_ready_task_is_asked_by_name_and_by_a_config(assay, endpoint, tmp_path):
    missing = run(assay, endpoint, tmp_path / "none", "--task", "gsm8k", "--dataset-dir", tmp_path,
                  code=2).err
    assert "its owners publish it at: Hugging Face openai/gsm8k" in missing
    assert "assay tasks gsm8k --sample" in missing and not (tmp_path / "none").exists()
    assay("tasks", "gsm8k", "--sample", tmp_path)
    done = run(assay, endpoint, tmp_path / "one", "--task", "gsm8k", "--dataset-dir", tmp_path)
    (entry,) = done.json()["accuracy"]["accuracy_scores"]
    assert entry["score"] == {"strict_match": 0, "flexible_extract": 0}
    assert entry["total_samples"] == 4
    config = tmp_path / "config.yaml"
    config.write_text("datasets:\n- type: accuracy\n  accuracy_config: {eval_method: task, "
                      "extras: {task: gsm8k}}\nsettings: {load_pattern: {type: concurrency}}\n")
    done = run(assay, endpoint, tmp_path / "two", "--config", config, "--dataset-dir", tmp_path)
    assert done.json()["accuracy"]["accuracy_scores"][0]["task"] == "gsm8k"
    saved = (tmp_path / "two" / "config.yaml").read_text()
    assert "Kim has 1,200 stamps" not in saved, "made-up rows are not part of a run's record"
    said = run(assay, endpoint, tmp_path / "three", "--task", "gsm9k", code=2).err
    assert "did you mean 'gsm8k'?" in said


def test_a_curve_asks_a_task_at_the_points_that_need_accuracy(assay, endpoint, task, tmp_path):
    server = endpoint("--ttft", "20ms", "--itl", "2ms", "--osl", 10)
    folder = tmp_path / "curve"
    curve = assay("curve", "--endpoint", server.url, "--model", "m", "--concurrency", "4,40",
                  "--quick", "--prompts", 60, "--isl", 30, "--report-dir", folder, "--task", task,
                  "--allow-client-limited", "--json", "--quiet").json()
    results = [json.loads(path.read_text())["accuracy_scores"]
               for path in folder.glob("points/*/accuracy/accuracy_results.json")]
    assert results and all(entries[0]["task"] == "mine" for entries in results)
    assert all(entries[0]["score"]["always"] == 0.5 for entries in results)
    scored = [point for point in curve["points"] if point.get("accuracy")]
    assert len(scored) == len(results)
