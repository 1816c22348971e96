"""Accuracy phases, `assay score`, and token counts by the model's tokenizer, against a small server
whose every reply is known.
"""

import collections
import json
import pathlib
import re
import struct

import pytest

LETTERS = "ABCD"


def letter(server, prompt):
    """The letter that the prompt asks for; row 3 wrong, row 4 a failure."""
    with server.lock:
        server.now += 1
        server.most = max(server.most, server.now)
    row = int(prompt.rsplit("row ", 1)[1])
    with server.lock:
        server.now -= 1
    said = f"let me think about it. Answer: {LETTERS[(row + (row == 3)) % 4]}"
    return (500, {}) if row == 4 else said


@pytest.fixture
def model(chat_model):
    """Its `most` is how many questions it had at one time."""
    return chat_model(letter, now=0, most=0)


@pytest.fixture
def files(tmp_path):
    """questions.jsonl with six rows, and a tokenizer of words with a chat template."""
    rows = [{"prompt": f"which letter? row {i}", "truth": LETTERS[i % 4], "part": f"p{i % 2}"}
            for i in range(6)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    folder = tmp_path / "tokenizer"
    folder.mkdir()
    (folder / "tokenizer.json").write_text(json.dumps({
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "chat_template": "{% for m in messages %}< {{ m.role }} > {{ m.content }} end "
                         "{% endfor %}{% if add_generation_prompt %}< assistant >{% endif %}"}))
    return tmp_path


# Row 4 of 6 fails, which is more than the tenth that a run may lose.
TOO_MANY_FAILED = 7


def run(assay, model, files, *more, code=TOO_MANY_FAILED):
    folder = files / "run"
    data = files / "questions.jsonl"
    acc = (f"acc:{data},name=letters,accuracy_config.eval_method=gpqa,"
           "accuracy_config.ground_truth=truth,accuracy_config.num_repeats=2")
    done = assay("run", "--endpoint", model.url, "--model", "m", "--concurrency", 2, "--streaming",
                 "off", "--dataset", data, "--dataset", acc, "--samples", 12, "--report-dir",
                 folder, "--quiet", "--json", "--allow-client-limited", "--no-preflight", *more,
                 code=code)
    return json.loads(done.out), folder


def test_accuracy_follows_the_measurement_at_its_concurrency(assay, model, files):
    summary, folder = run(assay, model, files)
    assert summary["n_samples_issued"] == 12
    assert model.most <= 2
    assert len(model.asked) == 24
    # Each row once a repeat, as it is in the file, without salt.
    asked = collections.Counter(model.asked[12:])
    assert asked == {f"which letter? row {i}": 2 for i in range(6)}
    results = json.loads((folder / "accuracy" / "accuracy_results.json").read_text())
    (entry,) = results["accuracy_scores"]
    # Rows 0, 1, 2 and 5 right; row 3 wrong; row 4 failed, which counts as wrong.
    assert entry["score"] == pytest.approx(8 / 12)
    assert results["average_accuracy"] == entry["score"]
    assert entry["dataset_name"] == "letters" and entry["dataset_type"] == "accuracy"
    assert entry["unit_samples"] == 6 and entry["num_repeats"] == 2
    # Wilson's interval of 4 of 6: both replies to a row agree, so 12 replies say no more.
    sure = entry["uncertainty"]["score"]
    assert sure["interval"] == pytest.approx([0.3000, 0.9032], abs=1e-4)
    assert (sure["samples"], sure["method"], sure["confidence"]) == (6, "wilson", 0.95)
    assert entry["total_samples"] == 12 and entry["complete"] is False
    assert entry["response_counts"] == {"issued": 12, "scored": 10, "empty": 0, "missing": 2}
    report = (folder / "report.txt").read_text()
    assert "Accuracy:\n  letters: 0.66" in report and "10/12 scored" in report
    assert "score: 95 % interval 0.3 to 0.9032 (standard error 0.21, wilson, 6 samples)" in report
    assert assay("verify", folder).code == 0


def test_modes_choose_what_is_asked(assay, model, files):
    summary, _ = run(assay, model, files, "--mode", "perf")
    assert summary["n_samples_issued"] == len(model.asked) == 12
    model.asked.clear()
    (files / "run").rename(files / "first")
    summary, folder = run(assay, model, files, "--mode", "acc")
    assert summary["n_samples_issued"] == 0
    assert len(model.asked) == 12
    assert (folder / "accuracy" / "accuracy_results.json").exists()


def test_a_run_is_scored_again_by_another_formula(assay, model, files):
    _, folder = run(assay, model, files)
    done = assay("score", folder, "--scorer", "mmlu_pro", "--ground-truth", "truth", "--subset",
                 "part", "--json").json()
    (entry,) = done["accuracy_scores"]
    assert entry["scorer"] == "mmlu_pro"
    assert entry["score"] == pytest.approx(8 / 12)
    assert entry["breakdown"]["subset_scores"] == pytest.approx({"p0": 400 / 6, "p1": 400 / 6})
    kept = json.loads((folder / "accuracy" / "accuracy_results.json").read_text())
    assert kept == done
    # The measured replies too.
    entry, other = assay("score", folder, "--scorer", "gpqa", "--ground-truth", "truth", "--phase",
                         "performance", "--json").json()["accuracy_scores"]
    assert entry["dataset_name"] == "performance" and entry["total_samples"] == 12
    assert other["dataset_name"] == "letters"
    assert assay("verify", folder).code == 0
    assert "no scorer 'gpqb'" in assay("score", folder, "--scorer", "gpqb", code=2).err


def test_two_runs_scores_are_compared_in_pairs(assay, model, files):
    _, one = run(assay, model, files)
    one = one.rename(files / "one")
    _, two = run(assay, model, files)
    done = assay("compare", one, two, "--accuracy", "--json").json()
    (figure,) = done["accuracy"]
    assert (figure["dataset"], figure["figure"]) == ("letters", "score")
    assert figure["a"] == figure["b"] == pytest.approx(8 / 12) and figure["p"] == 1
    # Two repeats a row: the row is the sample.
    assert figure["samples"] == 6 and figure["test"] == "paired_t"
    # B as a model that is right on rows 0 and 1 alone, each row asked once.
    lines = (two / "accuracy" / "sample_scores.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["dataset_sha256"] and len(lines) == 7
    for folder, right in ((one, (0, 1, 2, 5)), (two, (0, 1))):
        (folder / "accuracy" / "sample_scores.jsonl").write_text("\n".join(
            [lines[0]] + [json.dumps([i, int(i in right), 1]) for i in range(6)]))
    text = assay("compare", one, two, "--accuracy").out
    assert "letters, score: not resolved" in text and "p = 0.5000" in text
    assert "exact McNemar, 6 samples: only A is right on 2, only B on 0" in text
    assay("compare", one, two, "--accuracy", "--strict", code=5)
    assert "B is as good (margin 90 points)" in assay(
        "compare", one, two, "--accuracy-margin", "90", "--strict").out
    (two / "accuracy" / "sample_scores.jsonl").write_text("\n".join(lines[:1]))
    assert "ends 6 samples early" in assay("compare", one, two, "--accuracy", code=2).err
    changed = lines[0].replace('"samples":6', '"samples":1').replace('"samples": 6', '"samples": 1')
    (two / "accuracy" / "sample_scores.jsonl").write_text(changed + "\n[0, 1, 1]\n")
    assert "the samples are not the same: 5 are only in A" in assay(
        "compare", one, two, "--accuracy", code=6).out
    (two / "accuracy" / "sample_scores.jsonl").unlink()
    assert "has no scores by samples" in assay("compare", one, two, "--accuracy", code=2).err
    assert "above 0" in assay("compare", one, two, "--accuracy-margin", "0", code=2).err
    assert "above 0" in assay("compare", one, two, "--accuracy-margin", "-5", code=2).err


def accuracy_log(path, replies):
    path.write_text("[\n" + ",\n".join(
        f'{{ "seq_id" : {i}, "qsl_idx" : {sample}, "data" : "{data.hex().upper()}" }}'
        for i, (sample, data) in enumerate(replies)) + "\n]\n")
    return path


def test_an_accuracy_log_of_loadgen_is_scored(assay, files, tmp_path):
    labels = tmp_path / "val_map.txt"
    labels.write_text("".join(f"ILSVRC2012_val_{i}.JPEG {i}\n" for i in range(4)))
    log = accuracy_log(tmp_path / "mlperf_log_accuracy.json",
                       [(i, struct.pack("<q", i if i != 2 else 9)) for i in (3, 1, 2, 0)])
    done = assay("score", log, "--workload", "resnet50", "--dataset", labels, "--json").json()
    assert done["score"] == 75 and done["entries"] == 4 and done["duplicates"] == 0
    assert done["uncertainty"]["score"]["method"] == "wilson"
    # A detection as YOLO's harness packs it: COCO's category_id 44, coordinates as shares.
    annotations = tmp_path / "annotations.json"
    annotations.write_text(json.dumps({
        "images": [{"id": 100, "width": 640, "height": 480}], "categories": [{"id": 44}],
        "annotations": [{"id": 1, "image_id": 100, "category_id": 44, "area": 5000, "iscrowd": 0,
                         "bbox": [100, 100, 100, 50]}]}))
    box = struct.pack("<7f", 0, 100 / 480, 100 / 640, 150 / 480, 200 / 640, 0.9, 44)
    accuracy_log(log, [(0, box), (0, b"")])
    done = assay("score", log, "--workload", "yolo11l", "--annotations", annotations,
                 "--json").json()
    assert done["score"]["mAP"] == pytest.approx(100) and done["duplicates"] == 1
    # Token ids, and what is missing is named.
    truths = tmp_path / "truths.jsonl"
    truths.write_text('{"output": "? ?"}\n')
    accuracy_log(log, [(0, struct.pack("<3i", 0, 0, 0))])
    flags = ("--workload", "llama3.1-8b", "--dataset", truths)
    assert "--tokenizer: is missing" in assay("score", log, *flags, code=2).err
    done = assay("score", log, *flags, "--tokenizer", files / "tokenizer", "--json").json()
    assert done["payload"] == "tokens, 4 bytes each" and done["score"]["gen_tok_len"] == 3
    assert "--dataset: is missing" in assay("score", log, *flags[:2], code=2).err
    assert "there are yolo11l" in assay("score", log, "--workload", "x", code=2).err
    log.write_text(log.read_text()[:-4])
    assert "ends early" in assay("score", log, *flags, "--tokenizer", files / "tokenizer",
                                 code=2).err


def test_what_a_suites_program_wrote_of_pictures_is_held_against_the_workload(assay, tmp_path):
    log = tmp_path / "accuracy.txt"
    log.write_text("Accuracy Results: {'FID_SCORE': '23.4', 'CLIP_SCORE': '31.7'}\nhash=1\n")
    done = assay("score", log, "--workload", "stable-diffusion-xl", "--require-accuracy").out
    assert "clip_score: 31.7000, 31.68631873 to 31.81331801 (reference 31.74981837): passed" in done
    assert "=> passed" in done
    log.write_text("{'FID_SCORE': '24.4', 'CLIP_SCORE': '31.7'}\n")
    flags = ("--workload", "stable-diffusion-xl", "--json")
    gate = assay("score", log, *flags).json()["quality"]
    assert [item["verdict"] for item in gate["items"]] == ["passed", "failed"]
    assert assay("score", log, *flags, "--require-accuracy", code=1).json()["quality"] == gate
    assert assay("score", log, "--scorer", "sdxl", "--json").json()["score"]["fid_score"] == 24.4
    log.write_text("{'FID_SCORE': '24.4'}\n")
    assert "CLIP_SCORE: is missing" in assay("score", log, *flags, code=2).err
    videos = tmp_path / "mine_eval_results.json"
    dimensions = ("subject_consistency", "background_consistency", "motion_smoothness",
                  "dynamic_degree", "appearance_style", "scene")
    videos.write_text(json.dumps({name: [0.7, []] for name in dimensions}))
    done = assay("score", videos, "--workload", "wan2.2-t2v-a14b", "--json").json()
    assert done["score"]["vbench_score"] == pytest.approx(70)
    assert done["quality"]["verdict"] == "passed"


def test_each_replys_verdict_is_written_to_a_file(assay, model, files, tmp_path):
    _, folder = run(assay, model, files)
    where = tmp_path / "verdicts.jsonl"
    done = assay("score", folder, "--scorer", "mmlu_pro", "--ground-truth", "truth", "--verdicts",
                 where, "--json").json()
    lines = [json.loads(line) for line in where.read_text().splitlines()]
    assert len(lines) == 12 and {one["dataset"] for one in lines} == {"letters"}
    assert sum(one["score"] for one in lines) / 12 == done["accuracy_scores"][0]["score"]
    assert all((one["extracted"] == one["truth"]) == (one["score"] == 1) for one in lines)


def test_deepseek_r1_is_judged_as_its_evaluator_judges(assay, tmp_path):
    rows = tmp_path / "rows.jsonl"
    replies = ["The correct answer is **D**.", "ANSWER: A, no, Final Answer = (D)"]
    rows.write_text("".join(json.dumps({"id": f"q{i}", "dataset": "gpqa", "ground_truth": "D",
                                        "reply": reply}) + "\n" for i, reply in enumerate(replies)))
    where = tmp_path / "verdicts.jsonl"
    done = assay("score", rows, "--scorer", "deepseek_r1", "--verdicts", where, "--json").json()
    assert done["score"] == 50
    assert [json.loads(line) for line in where.read_text().splitlines()] == [
        {"sample": 0, "answered": True, "extracted": None, "rule": None, "truth": "D", "score": 0},
        {"sample": 1, "answered": True, "extracted": "D", "rule": "last_answer", "truth": "D",
         "score": 100}]
    for scorer in ("deepseek_r1", "gpt_oss"):  # a column that says nothing of how a row is judged
        said = assay("score", rows, "--scorer", scorer, "--subset", "id", code=2).err
        assert "column 'id' is 'q0'" in said and "--subset COLUMN" in said


def test_what_cannot_be_scored_is_said_and_the_replies_are_kept(assay, model, files):
    _, folder = run(assay, model, files, "--mode", "perf")
    done = assay("score", folder, "--scorer", "gpqa", "--ground-truth", "nowhere", "--phase",
                 "performance", code=2)
    assert "no column 'nowhere'" in done.err and "there are: truth, part" in done.err
    assert not (folder / "accuracy" / "accuracy_results.json").exists()


def test_a_run_that_kept_no_text_has_no_score(assay, model, files):
    _, folder = run(assay, model, files, "--mode", "perf", "--keep-text", "off")
    done = assay("score", folder, "--scorer", "gpqa", "--ground-truth", "truth", "--phase",
                 "performance", code=2)
    assert "kept no text of its replies; repeat it with --keep-text on" in done.err
    assert "settings.recording.keep_text" in done.err and done.out == ""
    assert not (folder / "accuracy" / "accuracy_results.json").exists()
    (entry,) = assay("score", folder, "--scorer", "token_bounds", "--phase", "performance",
                     "--json").json()["accuracy_scores"]
    assert entry["score"]["tokens_per_sample"] == 1


def test_tokens_are_counted_by_the_models_tokenizer(assay, model, files):
    summary, folder = run(assay, model, files, "--tokenizer", files / "tokenizer")
    tokens = summary["assay"]["tokens"]
    assert tokens["source"] == "tokenizer"
    assert tokens["tokenizer"]["output"] == "chat template, two renderings"
    # "< user > which letter? row N end < assistant >", and seven words of reply.
    assert summary["input_sequence_lengths"]["min"] == 11
    assert summary["input_sequence_lengths"]["max"] == 11
    assert summary["output_sequence_lengths"]["min"] == 7
    assert summary["output_sequence_lengths"]["max"] == 7
    entry = json.loads((folder / "accuracy" / "accuracy_results.json").read_text())
    assert entry["accuracy_scores"][0]["output_sequence_lengths"]["avg"] == 7
    assert entry["osl_tokenization_s"] >= 0
    # Read again where there is no tokenizer.
    (files / "tokenizer").rename(files / "gone")
    again = assay("report", folder, "--json").json()
    assert again["output_sequence_lengths"] == summary["output_sequence_lengths"]
    assert assay("verify", folder).code == 0
    # Each tool's tokens as that tool counts them.
    table = assay("report", folder, "--definitions", "all", "--json").json()
    first = {name: row["tokens"]["first"] for name, row in table.items()}
    assert first["aiperf"] == first["assay"] == "tokenizer" and first["vllm"] == "usage"
    assert table["aiperf"]["tokens"]["replies"]["tokenizer"] == table["aiperf"]["succeeded"] > 0
    assert "tokens by tokenizer" in assay("report", folder, "--definitions", "genai-perf").out


def test_a_tokenizer_that_is_not_there_costs_no_run(assay, model, files):
    done = assay("run", "--endpoint", model.url, "--model", "m", "--samples", 2, "--tokenizer",
                 files / "nowhere", "--report-dir", files / "none", code=2)
    assert "no tokenizer" in done.err and model.asked == []
    assert not (files / "none").exists()


WORKLOAD = """workload: letters
title: letters of rows
edition: mine-v1
task: questions
model: {id: m}
api: openai
metric: queries/s
prompt: a question
config:
  model_params: {name: m, streaming: "off"}
  datasets:
    - {name: letters, type: performance}
    - name: letters
      type: accuracy
      accuracy_config: {eval_method: gpqa, ground_truth: truth}
datasets:
  letters: {rows: ROWS, file: questions.jsonl, columns: [prompt, truth], published: here}
scenarios:
  concurrency: {queries_min: 1}
quality:
  - {metric: exact_match, reference: 70, factor: 0.9, at_least: LEAST}
scorer: gpqa
scorers: [gpqa]
sources: [me]
"""


def gated(assay, model, files, least, *more, rows=6, code=TOO_MANY_FAILED):
    file = files / "letters.yaml"
    file.write_text(WORKLOAD.replace("ROWS", str(rows)).replace("LEAST", str(least)))
    folder = files / f"run{len(list(files.glob('run*')))}"
    done = assay("run", "--workload", file, "--dataset-dir", files, "--endpoint", model.url,
                 "--concurrency", 2, "--samples", 6, "--report-dir", folder, "--quiet",
                 "--allow-client-limited", *more, code=code)
    return done, folder


def test_a_workloads_quality_gate_is_told_after_the_run(assay, model, files):
    done, folder = gated(assay, model, files, 60, "--mode", "both")
    # 4 of 6 rows right; row 4 never had a reply.
    assert "Quality, as letters demands it (mine-v1):" in done.out
    assert "exact_match: 66.6667, at least 60.0 (reference 70.0): passed" in done.out
    assert "=> passed, but not on the workload's whole dataset" in done.out
    gate = json.loads((folder / "accuracy" / "accuracy_results.json").read_text())["quality"]
    assert gate["verdict"] == "passed" and gate["complete"] is False
    (item,) = gate["items"]
    assert item["value"] == pytest.approx(200 / 3) and item["at_least"] == 60
    assert item["reference"] == 70 and item["verdict"] == "passed"
    assert "passed" in assay("report", folder).out
    assert assay("verify", folder).code == 0


def test_a_score_that_falls_short_fails_only_where_that_was_asked(assay, model, files):
    done, folder = gated(assay, model, files, 90, "--mode", "acc")
    assert "=> failed" in done.out
    both = gated(assay, model, files, 90, "--mode", "acc", "--require-accuracy", "--json")[0].json()
    assert [cause["code"] for cause in both["exit"]["causes"]] == [TOO_MANY_FAILED, 1]
    assert assay("score", folder, "--require-accuracy", code=1).code == 1
    assert assay("score", folder).code == 0
    # Enough, but not every reply is there.
    short, _ = gated(assay, model, files, 60, "--mode", "acc", "--require-accuracy", "--json")
    assert 1 in [cause["code"] for cause in short.json()["exit"]["causes"]]


def test_recorded_replies_are_counted_again(assay, model, files):
    _, folder = run(assay, model, files)
    before = assay("report", folder, "--json").json()
    assert before["assay"]["tokens"]["source"] != "tokenizer"
    again = assay("report", folder, "--json", "--tokenizer", files / "tokenizer").json()
    assert again["assay"]["tokens"]["source"] == "tokenizer"
    assert again["assay"]["tokens"]["tokenizer"]["recounted"] is True
    assert again["output_sequence_lengths"]["min"] == 7
    assert again["input_sequence_lengths"]["max"] == 11
    assert not (folder / "assay" / "token_counts.jsonl").exists()
    done = assay("verify", folder, "--tokenizer", files / "tokenizer")
    assert "replies come to" in done.err
    # Prompts need their file; replies do not.
    (files / "questions.jsonl").rename(files / "gone.jsonl")
    done = assay("report", folder, "--json", "--tokenizer", files / "tokenizer")
    assert "prompts are not counted" in done.err
    assert done.json()["output_sequence_lengths"]["min"] == 7
    assert "no tokenizer" in assay("report", folder, "--tokenizer", files / "none", code=2).err


def test_kept_counts_are_held_against_the_tokenizer(assay, model, files):
    _, folder = run(assay, model, files, "--tokenizer", files / "tokenizer")
    assert assay("verify", folder, "--tokenizer", files / "tokenizer").code == 0
    other = files / "tokenizer" / "tokenizer.json"
    other.write_text(other.read_text().replace("WhitespaceSplit", "Whitespace"))
    done = assay("verify", folder, "--tokenizer", files / "tokenizer", code=1)
    assert re.search(r"20 of 20 replies differ; first, query \d+ of phase 0", done.out)


def test_replies_are_judged_by_a_task(assay, tmp_path):
    """A ready task, a task of the user's, and one with a mistake."""
    rows = [{"question": "q", "answer": "1 + 1\n#### 1,002", "reply": "#### 1002"},
            {"question": "q", "answer": "#### 7", "reply": "it is 7"}]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = assay("score", replies, "--task", "gsm8k", "--json").json()
    assert done["score"] == {"strict_match": 0.5, "flexible_extract": 1.0}
    assert assay("score", replies, "--task", "gsm8k", "--scorer", "wer", code=2).code == 2
    mine = tmp_path / "mine.yaml"
    text = ("task: mine\ndataset: {file: x.jsonl}\nprompt: '{{question}}'\nscores:\n"
            "  - {metric: number, truth: '{{answer}}', truth_extract: [number],\n"
            "     extract: [number]}\n")
    mine.write_text(text)
    done = assay("score", replies, "--task", mine, "--json").json()
    assert done["score"] == 1 and done["uncertainty"]["score"]["samples"] == 2
    mine.write_text(text.replace("metric: number", "metric: numbers"))
    wrong = assay("score", replies, "--task", mine, code=2).err
    assert f"{mine}:5: scores[0].metric: unknown 'numbers'" in wrong
    assert "did you mean 'number'?" in wrong


def test_ready_tasks_are_listed_and_bring_rows_for_a_first_try(assay, tmp_path):
    names = [line.split()[0] for line in assay("tasks", "--list").out.splitlines()]
    assert {"gsm8k", "humaneval", "ifeval", "math500", "mmlu"} <= set(names)
    for name in names:
        assay("tasks", name, "--sample", tmp_path)
        task = assay("tasks", name, "--json").json()
        lines = (tmp_path / task["dataset"]["file"]).read_text().splitlines()
        assert [json.loads(line) for line in lines] == task["dataset"]["sample"]
    assert "not overwritten" in assay("tasks", "mmlu", "--sample", tmp_path, code=2).err
    (tmp_path / "copy.yaml").write_text(assay("tasks", "mmlu", "--yaml").out)
    assert assay("tasks", tmp_path / "copy.yaml").code == 0


def test_a_task_runs_the_functions_that_replies_write(assay, tmp_path):
    """HumanEval: a whole function, or the body that completes the prompt, and wrong ones."""
    assay("tasks", "humaneval", "--sample", tmp_path)
    row = json.loads((tmp_path / "humaneval/test.jsonl").read_text().splitlines()[0])
    body = row["canonical_solution"]
    bodies = {"right": body, "wrong": "    return 1\n", "fails": "    raise ValueError\n"}
    whole = {name: f"def {row['entry_point']}(numbers):\n{text}" for name, text in bodies.items()}
    said = [f"```python\n{text}```" for text in (*whole.values(), body)] + ["No idea."]
    right, wrong = said[0], said[1].replace("python", "text")
    said += [f"{wrong}\n{right}", f"{right}\n{wrong}", wrong, right.removesuffix("```")]
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(json.dumps({**row, "reply": text}) + "\n" for text in said))
    refused = assay("score", replies, "--task", "humaneval", code=2).err
    assert "--allow-code" in refused
    verdicts = tmp_path / "verdicts.jsonl"
    done = assay("score", replies, "--task", "humaneval", "--allow-code", "--json",
                 "--verdicts", verdicts).json()
    judged = [json.loads(line)["score"] for line in verdicts.read_text().splitlines()]
    assert judged == [1, 0, 0, 1, 0, 1, 1, 0, 1]
    assert done["score"] == pytest.approx(5 / 9)


def test_ifeval_judges_as_its_authors(assay, tmp_path):
    """Verdicts of the authors' program, 21 kinds of instruction, strict and loose."""
    path = pathlib.Path(__file__).resolve().parents[1] / "data/judges/ifeval.jsonl"
    verdicts = tmp_path / "verdicts.jsonl"
    assay("score", path, "--task", "ifeval", "--verdicts", verdicts)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    judged = [json.loads(line) for line in verdicts.read_text().splitlines()]
    for row, verdict in zip(rows, judged, strict=True):
        assert json.loads(verdict["extracted"]) == row["verdict"], row
    assert len({row["instruction_id_list"][0] for row in rows}) == 21


@pytest.mark.parametrize("api", ["openai", "openai_completions", "anthropic_messages"])
def test_an_endpoint_that_knows_the_answers_is_scored_by_what_it_knows(assay, endpoint, tmp_path,
                                                                        api):
    rows = [{"question": f"Question {i}: which letter?", "letter": "ABCD"[i % 4],
             "reply": f'It is "{"ABCD"[i % 4]}".\nAnswer: {"ABCD"[i % 4]}'} for i in range(60)]
    file = tmp_path / "letters.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = f"{file},prompt=question,answer=reply"
    scorer = "accuracy_config.eval_method=gpqa,accuracy_config.ground_truth=letter"
    scores = {}
    for share in (1, 0.5, 0):
        server = endpoint("--osl", 16, "--answers", f"{told},right={share}")
        run = tmp_path / f"run-{share}"
        assay("run", "--endpoint", server.url, "--model", "m", "--api-type", api, "--concurrency",
              8, "--samples", 8, "--dataset",
              f"acc:{file},name=letters,parser.prompt=question,{scorer}", "--report-dir", run,
              "--quiet", "--allow-client-limited")
        server.stop()
        entry = json.loads((run / "accuracy/accuracy_results.json").read_text())
        scores[share] = entry["accuracy_scores"][0]["score"]
    assert scores[1] == 1
    assert scores[0] == 0, "made-up words have no letter"
    assert 0.2 < scores[0.5] < 0.8
