"""What reuse of prompts was offered, routed and delivered, against a modelled prefix cache that
knows."""

import json

BLOCK = 16


def scenario(tmp_path, speedup=20):
    path = tmp_path / "system.yaml"
    path.write_text("model: gpt-oss-120b\nhardware: b200-sxm\nprecision: mxfp4\nparallel: tp=1\n"
                    f"speedup: {speedup}\n")
    return path


def prompts(tmp_path, heads=3, rows=24):
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(
        json.dumps({"prompt": f"{row % heads}" * 700 + f" {row:03}" + "x" * 300}) + "\n"
        for row in range(rows)))
    return path


def account(assay, urls, data, folder, *flags, code=0):
    done = assay("run", "--endpoint", ",".join(urls), "--model", "m", "--dataset", data,
                 "--samples", 24, "--prefix-reuse", BLOCK, "--report-dir", folder, "--quiet",
                 "--json", "--no-preflight", "--allow-client-limited", *flags, code=code)
    return json.loads(done.out)["prefix_reuse"] if code == 0 else done


def test_one_at_a_time_all_that_was_offered_is_delivered(assay, endpoint, tmp_path):
    server = endpoint("--scenario", scenario(tmp_path), "--osl", 4)
    folder = tmp_path / "run"
    said = account(assay, [server.url], prompts(tmp_path), folder, "--concurrency", 1)
    # Three heads of 700 equal bytes: 21 of them offer their whole blocks of 4 × 16 bytes, less what
    # stands before the prompt's text in the body.
    assert said["queries"] == 24 and said["queries_without_cached_tokens"] == 0
    assert said["offered_tokens"] % (21 * BLOCK) == 0
    assert said["offered_tokens"] // 21 in (10 * BLOCK, 11 * BLOCK)
    assert said["in_time_tokens"] == said["offered_tokens"] == said["delivered_tokens"]
    assert said["routed_tokens"] is None and said["delivered_beyond_offered_tokens"] == 0
    assert said["symbols"] == "bytes, 4 a token"
    # The report prints it from the folder alone, and the folder verifies.
    assert json.loads(assay("report", folder, "--json").out)["prefix_reuse"] == said
    text = assay("report", folder).out
    assert "offered" in text and "routed" in text and "delivered" in text
    assert "delivered" in (folder / "report.html").read_text()
    assay("verify", folder)


def test_two_replicas_keep_less_together(assay, endpoint, tmp_path):
    servers = [endpoint("--scenario", scenario(tmp_path), "--osl", 4) for _ in range(2)]
    urls = [server.url for server in servers]
    said = account(assay, urls, prompts(tmp_path), tmp_path / "run", "--concurrency", 1)
    # Every head must be computed once at each replica.
    assert said["endpoints"] == 2
    assert said["offered_tokens"] - said["routed_tokens"] == said["offered_tokens"] // 7
    assert said["delivered_tokens"] == said["routed_tokens"]


def test_many_at_once_offer_more_than_is_in_time(assay, endpoint, tmp_path):
    # The first token of the modelled system comes after some tenths of a second.
    server = endpoint("--scenario", scenario(tmp_path, 0.2), "--osl", 4)
    data = prompts(tmp_path, heads=1)
    said = account(assay, [server.url], data, tmp_path / "run", "--concurrency", 24)
    assert said["in_time_tokens"] < said["offered_tokens"]
    assert said["delivered_tokens"] <= said["offered_tokens"]
    again = account(assay, [server.url], data, tmp_path / "warm", "--concurrency", 1)
    assert again["delivered_beyond_offered_tokens"] > 0
    assert "warm before" in " ".join(assay("report", tmp_path / "warm").out.split())


def test_a_server_without_counts_is_not_taken_for_a_cold_one(assay, endpoint, tmp_path):
    server = endpoint("--quirk", "no-usage", "--osl", 4)
    said = account(assay, [server.url], prompts(tmp_path), tmp_path / "run", "--concurrency", 1)
    assert said["delivered_tokens"] is None and said["offered_tokens"] > 0
    assert "no reply has cached tokens" in " ".join(assay("report", tmp_path / "run").out.split())


def test_a_wrong_block_is_refused(assay, endpoint, tmp_path):
    server = endpoint("--osl", 4)
    done = account(assay, [server.url], prompts(tmp_path), tmp_path / "run", "--prefix-reuse",
                   -1, code=2)
    assert "settings.prefix_reuse.block_tokens" in done.err or "--prefix-reuse" in done.err
