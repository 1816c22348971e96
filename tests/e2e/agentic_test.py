"""Conversations replayed turn by turn at the built-in endpoint."""

import json

import pytest

SYSTEM = "be brief"


def turn(conversation, number, role, **more):
    return {"conversation_id": conversation, "turn": number, "role": role, **more}


def conversation(name, tools):
    """A question, as many calls of a tool, and thanks: tools + 2 turns of the client."""
    rows = [turn(name, 1, "user", content="weather?", system=SYSTEM, max_new_tokens=6)]
    for i in range(tools):
        call = {"id": f"t{i}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        rows.append(turn(name, len(rows) + 1, "assistant", tool_calls=[call]))
        rows.append(turn(name, len(rows) + 1, "tool", delay_seconds=0.01,
                         tool_results=[{"tool_call_id": f"t{i}", "content": "rain"}]))
    rows.append(turn(name, len(rows) + 1, "assistant", content="rain"))
    rows.append(turn(name, len(rows) + 1, "user", content="thanks"))
    return rows


def config_of(tmp_path, server, agentic, concurrency=2):
    rows = [row for k in range(3) for row in conversation(f"sim_{k}", k)]
    data = tmp_path / "conversations.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = tmp_path / "config.yaml"
    config.write_text(f"""
model_params: {{name: m, streaming: 'on', max_new_tokens: 32}}
datasets:
  - {{name: agentic, path: {data}, type: performance, agentic_inference: {agentic}}}
settings:
  load_pattern: {{type: agentic_inference, target_concurrency: {concurrency}}}
  recording: {{events_jsonl: true}}
endpoint_config: {{endpoints: ['{server.url}']}}
""")
    return config


def run(assay, config, folder):
    return assay("run", "--config", config, "--report-dir", folder, "--json",
                 "--allow-client-limited").json()


def test_every_turn_follows_the_reply_before_it(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--osl", 4)
    folder = tmp_path / "run"
    config = config_of(tmp_path, server,
                       "{enable_salt: true, inject_tool_delay: true, num_trajectories_to_issue: 5}",
                       concurrency=1)
    # One slot is never short of work before the last conversation's end: 2 + 3 + 4, then 2 + 3.
    summary = run(assay, config, folder)
    assert summary["n_samples_completed"] == 14 and summary["n_samples_failed"] == 0
    assert summary["complete"]
    assert summary["output_tokens_per_turn_total"] == 14 * 4
    assert summary["e2e_avg_interactivity"] == pytest.approx(
        14 * 4 / summary["e2e_turn_time_seconds_total"])
    rows = list(json.loads((folder / "sample_idx_map.json").read_text())["performance"].values())
    assert rows == [*range(9), *range(5)], "in order; a repeat uses the rows of the first pass"
    assay("verify", folder)
    assert "client_limited" in json.dumps(summary)
    # The explorer's interactivity of conversations is of whole turns, and says so.
    assay("import", folder, "--store", tmp_path / "s.db")
    assay("export", tmp_path / "page", "--store", tmp_path / "s.db")
    [curve] = json.loads((tmp_path / "page/data/curves.json").read_text())["items"]
    [point] = curve["points"]
    assert point["interactivity"] == "end_to_end"
    assert point["tps_per_user"] == pytest.approx(summary["e2e_avg_interactivity"], rel=1e-5)


def test_what_a_slot_leaves_behind_is_scored_and_not_measured(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--osl", 4)
    folder = tmp_path / "run"
    config = config_of(tmp_path, server, "{num_trajectories_to_issue: 4}", concurrency=4)
    config.write_text(config.read_text().replace(
        "type: performance,",
        "type: performance, accuracy_config: {eval_method: agentic_inference_inline},"))
    rows = [json.loads(line) for line in (tmp_path / "conversations.jsonl").read_text().split("\n")
            if line]
    for row in rows:
        if row["role"] == "assistant":
            row["intent_codes"] = ["I001"]
    (tmp_path / "conversations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    # Four begin at once, of 2, 3, 4 and 2 turns; the first that ends leaves its slot empty.
    summary = run(assay, config, folder)
    log = json.loads((folder / "assay/run.json").read_text())["run"]["phases"]
    assert [phase["kind"] for phase in log] == ["performance", "tail"]
    assert 2 <= summary["n_samples_completed"] < 11
    mapped = json.loads((folder / "sample_idx_map.json").read_text())
    assert sorted(mapped["performance"].values()) == sorted([*range(9), 0, 1]) and len(mapped) == 1

    def check_scores(results):
        [entry] = results["accuracy_scores"]
        assert (entry["unit_samples"], entry["total_samples"]) == (9, 11)
        assert entry["complete"] and entry["response_counts"]["missing"] == 0
        # Nothing was recorded after the last turn of each: four are not told.
        assert entry["breakdown"]["turns"] == {
            "issued": 7, "expected": 7, "observed": 7, "missing": 0, "scored": 7}
        told = [(one["conversation_id"], one["repeat"], one["turn"])
                for one in entry["breakdown"]["per_turn"]]
        assert told == [("sim_0", 1, 2), ("sim_0", 2, 2), ("sim_1", 1, 2), ("sim_1", 1, 4),
                        ("sim_2", 1, 2), ("sim_2", 1, 4), ("sim_2", 1, 6)]

    results = json.loads((folder / "accuracy/accuracy_results.json").read_text())
    check_scores(results)
    assay("verify", folder)
    (folder / "accuracy/accuracy_results.json").unlink()
    again = assay("score", folder, "--scorer", "agentic_inference_inline", "--json").json()
    assert again == results

    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    named = {(e["conversation_id"], e["turn"]) for e in events if e["event_type"][:7] == "sample."}
    assert ("sim_0__repeat_2", 3) in named and ("", None) not in named
    issued = [e for e in events if e["event_type"] == "sample.issued"]
    assert len(issued) == 11 and all(e["data"][1] is None and e["data"][3] for e in issued)
    assert issued[0]["data"][3][0] == {"role": "system", "content": SYSTEM}


def test_a_broken_conversation_is_named_before_anything_is_asked(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--osl", 4)
    config = config_of(tmp_path, server, "{}")
    data = tmp_path / "conversations.jsonl"
    data.write_text(data.read_text().replace('"role": "tool"', '"role": "user"', 1))
    done = assay("run", "--config", config, "--report-dir", tmp_path / "run", code=2)
    assert "conversations.jsonl:6" in done.err and "sim_1" in done.err


def test_a_curve_of_conversations_says_what_to_do_instead(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--osl", 4)
    config = config_of(tmp_path, server, "{enable_salt: true, num_trajectories_to_issue: 3}")
    done = assay("curve", "--config", config, "--max-concurrency", 64, "--report-dir",
                 tmp_path / "curve", code=None)
    assert done.code != 0 and not (tmp_path / "curve").exists()
    assert "neither a steady window nor an Offline point" in done.err
    # What it says to do is done.
    assay("run", "--config", config, "--concurrency", 3, "--report-dir", tmp_path / "r3", "--json",
          "--allow-client-limited")
    saved = (tmp_path / "r3" / "config.yaml").read_text()
    assert "agentic_inference" in saved and "target_concurrency: 3" in saved
