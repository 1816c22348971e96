"""Traffic classes: one run mixes them, each has figures of its own, and the server sees what each
asked for."""

import json


def run(assay, server, folder, *flags, code=0):
    return assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 8, "--samples",
                 200, "--report-dir", folder, "--quiet", "--json", "--allow-client-limited", *flags,
                 code=code)


def test_each_class_has_its_own_figures(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", "max")
    done = run(assay, server, tmp_path / "run", "--class",
               "chat,share=3,isl=20,osl=4,slo=ttft<=2s&latency<=60s", "--class",
               "batch,share=1,isl=60,osl=40,priority=2,slo=latency<=1ms")
    summary = json.loads(done.out)
    chat, batch = summary["classes"]["classes"]
    assert (chat["name"], batch["name"]) == ("chat", "batch")
    assert chat["ended"] + batch["ended"] == 200 and abs(chat["ended"] - 150) <= 2
    assert chat["output_tokens"] == 4 * chat["ended"]
    assert batch["output_tokens"] == 40 * batch["ended"]
    assert chat["attainment"] == 1 and batch["attainment"] == 0
    assert batch["latency"]["p50"] > chat["latency"]["p50"] + 20e6
    assert summary["classes"]["fairness"] == 0.5
    total = summary["output_sequence_lengths"]["total"]
    assert chat["output_tokens"] + batch["output_tokens"] == total
    # The folder alone gives the same, and verifies.
    assert json.loads(assay("report", tmp_path / "run", "--json").out)["classes"] == \
        summary["classes"]
    assert "chat: " in assay("report", tmp_path / "run").out
    assay("verify", tmp_path / "run")


def test_a_class_that_is_written_wrong_is_refused(assay, endpoint, tmp_path):
    server = endpoint()
    for wrong in ("share=1", "a,share=0", "a,sped=1", "a,slo=p99<=1s"):
        run(assay, server, tmp_path / "run", "--class", wrong, code=2)
    run(assay, server, tmp_path / "run", "--class", "a", "--class", "a", code=2)
    assert not (tmp_path / "run").exists()


def test_sizes_of_pictures_are_swept_in_one_command(assay, endpoint, tmp_path):
    server = endpoint("--ttft", "5ms", "--itl", "1ms", "--osl", "max")
    folder = tmp_path / "sweep"
    done = assay("run", "--endpoint", server.url, "--model", "m", "--concurrency", 2, "--samples",
                 6, "--report-dir", folder, "--quiet", "--json", "--allow-client-limited",
                 "--each-class", "--class", "small,image=16x16,isl=20,osl=4", "--class",
                 "large,image=300x200,audio=100ms,video=8x8x2,isl=20,osl=9")
    small, large = json.loads(done.out)["each_class"]
    assert (small["name"], small["ended"], small["output_tokens"]) == ("small", 6, 6 * 4)
    assert (large["name"], large["ended"], large["output_tokens"]) == ("large", 6, 6 * 9)
    assert json.loads((folder / "each_class.json").read_text()) == json.loads(done.out)
    for name in ("small", "large"):
        assay("verify", folder / name)
    base = ["run", "--endpoint", server.url, "--model", "m", "--report-dir", tmp_path / "no"]
    refused = assay(*base, "--each-class", "--class", "a,image=9x9", code=2)
    assert "two classes or more" in refused.err
    refused = assay(*base, "--class", "a,image=9", code=2)
    assert "image=9: WIDTHxHEIGHT" in refused.err
    assert not (tmp_path / "no").exists()
