"""What a Croissant file says of its use: `assay dataset --check --purpose …`, a run that asks
before it sends, and the chain of provenance."""

import hashlib
import json

import pytest


@pytest.fixture
def croissant(tmp_path):
    """croissant(usageInfo=…, …) writes a valid document about a file of three prompts."""
    rows = "".join(json.dumps({"prompt": f"say {i}"}) + "\n" for i in range(3))
    (tmp_path / "rows.jsonl").write_text(rows)

    def make(**more):
        document = {
            "@context": {"@vocab": "https://schema.org/", "sc": "https://schema.org/",
                         "cr": "http://mlcommons.org/croissant/",
                         "odrl": "http://www.w3.org/ns/odrl/2/",
                         "prov": "http://www.w3.org/ns/prov#",
                         "dct": "http://purl.org/dc/terms/",
                         "source": "cr:source",
                         "dataType": {"@id": "cr:dataType", "@type": "@vocab"}},
            "@type": "sc:Dataset", "name": "prompts", "description": "d", "url": "https://e.org",
            "dct:conformsTo": "http://mlcommons.org/croissant/1.1", "datePublished": "2026-01-01",
            "creator": "c", "version": "1.0.0", "citeAs": "c", "license": "MIT",
            "distribution": [{"@type": "cr:FileObject", "@id": "rows", "name": "rows",
                              "contentUrl": "rows.jsonl", "encodingFormat": "application/jsonlines",
                              "sha256": hashlib.sha256(rows.encode()).hexdigest()}],
            "cr:recordSet": [{"@type": "cr:RecordSet", "@id": "r", "name": "r", "cr:field": [
                {"@type": "cr:Field", "@id": "r/prompt", "name": "prompt", "dataType": "sc:Text",
                 "source": {"cr:fileObject": {"@id": "rows"},
                            "cr:extract": {"cr:column": "prompt"}}}]}],
            **more}
        path = tmp_path / "metadata.json"
        path.write_text(json.dumps(document, indent=1))
        return path

    return make


FORBIDS_COMMERCE = {"@type": ["CreativeWork", "odrl:Offer"], "name": "p1",
                    "odrl:permission": {"odrl:action": {"@id": "odrl:use"}},
                    "odrl:prohibition": {"odrl:action": {"@id": "odrl:commercialize"}}}


def test_the_check_answers_with_the_clause(assay, croissant):
    path = croissant(usageInfo=FORBIDS_COMMERCE)
    assay("dataset", path, "--check")  # without a use, the document alone is judged
    said = assay("dataset", path, "--check", "--purpose", "commercial", "--region", "EU", "--json",
                 code=1).json()
    assert said["valid"] and said["use"]["verdict"] == "deny"
    assert said["use"]["decided"] == [{"says": "deny", "where": "the dataset > usageInfo",
                                       "what": "policy p1: a prohibition is about this use"}]
    text = assay("dataset", path, "--check", "--purpose", "benchmark", code=1).out
    assert "use: unknown" in text and "a prohibition may be about this use" in text
    assert "use: allow" in assay("dataset", path, "--check", "--purpose", "benchmark",
                                 "--commercial", "no").out


def test_a_run_asks_before_it_sends(assay, endpoint, croissant, tmp_path):
    server = endpoint("--ttft", "1ms")
    path = croissant(usageInfo=FORBIDS_COMMERCE)
    args = ["run", "--endpoint", server.url, "--model", "m", "--dataset", f"croissant:{path}#r",
            "--concurrency", 1, "--samples", 3, "--allow-client-limited", "--report-dir"]
    refused = assay(*args, tmp_path / "a", "--purpose", "commercial", code=2)
    assert "a prohibition is about this use" in refused.err and "nothing was sent" in refused.err
    assert not (tmp_path / "a").exists()
    open_use = assay(*args, tmp_path / "b")
    assert "whether it may be used so is unknown" in open_use.err
    allowed = assay(*args, tmp_path / "c", "--purpose", "benchmark", "--commercial", "no")
    assert "may be used" not in allowed.err


def test_the_chain_from_a_result_to_its_sources(assay, endpoint, croissant, tmp_path):
    server = endpoint("--ttft", "1ms")
    path = croissant(**{"prov:wasDerivedFrom": {"@id": "urn:bench:prompts:v1"},
                        "prov:wasGeneratedBy": {"@type": "prov:Activity", "prov:label": "dedupe",
                                                "prov:endedAtTime": "2026-11-01T00:00:00Z"}})
    assay("run", "--endpoint", server.url, "--model", "m", "--dataset", f"croissant:{path}#r",
          "--concurrency", 1, "--samples", 3, "--allow-client-limited", "--quiet", "--report-dir",
          tmp_path / "run")
    text = assay("dataset", tmp_path / "run", "--provenance").out
    assert "result_summary.json wasGeneratedBy" in text
    assert f"used croissant:{path}#r" in text
    assert f"{path} wasDerivedFrom urn:bench:prompts:v1" in text
    assert f"{path} wasGeneratedBy dedupe, ended 2026-11-01T00:00:00Z" in text
    graph = assay("dataset", tmp_path / "run", "--provenance", "--json").json()["@graph"]
    result = json.loads((tmp_path / "run/assay/run.json").read_text())
    assert graph[1]["manifest_sha256"] == result["sha256"]
    assert graph[0]["sha256"] == hashlib.sha256(
        (tmp_path / "run/performance/result_summary.json").read_bytes()).hexdigest()
    assert {"prov:wasDerivedFrom", "prov:wasGeneratedBy"} <= {k for node in graph for k in node}


def test_the_explorer_shows_a_dataset_and_the_runs_that_used_it(assay, endpoint, explorer,
                                                                croissant, tmp_path):
    path = croissant(usageInfo=FORBIDS_COMMERCE,
                     **{"prov:wasDerivedFrom": {"@id": "urn:from:v1"}})
    server = endpoint()
    assay("run", "--endpoint", server.url, "--model", "m", "--dataset", f"croissant:{path}#r",
          "--samples", 3, "--report-dir", tmp_path / "run", "--quiet", "--allow-client-limited")
    store = tmp_path / "s.db"
    assay("import", tmp_path / "run", "--store", store)
    # The file by itself is the same description, even after the run's copy was taken.
    again = assay("import", path, "--store", store, "--json").json()
    assert again["datasheets"] == 1 and again["points"] == 0
    page = explorer("--store", store)
    (listed,) = page.get("datasheets")["items"]
    assert (listed["name"], listed["licences"], listed["runs_total"]) == ("prompts", ["MIT"], 1)
    sheet = page.get(f"datasheets/{listed['id']}")
    assert sheet["provenance"] == [{"of": "", "relation": "wasDerivedFrom", "what": "urn:from:v1"}]
    assert [f["id"] for f in sheet["fields"]] == ["r/prompt"] and sheet["findings"] == []
    (run,) = sheet["runs"]
    report = page.get(f"runs/{run['run']}")
    assert report["datasheets"] == [{"id": listed["id"], "name": "prompts"}]
    # Each answer of the page is that of the command.
    use = sheet["use"]
    for purpose in use["purposes"]:
        for commercial in use["commercial"]:
            at = 0
            for axis, word in (("purposes", purpose), ("commercial", commercial), ("nonprofit", ""),
                               ("methods", ""), ("regions", "")):
                at = at * len(use[axis]) + use[axis].index(word)
            flags = [*(["--purpose", purpose] if purpose else []),
                     *(["--commercial", commercial] if commercial else [])]
            if not flags:
                continue
            said = assay("dataset", path, "--check", *flags, "--json", code=None).json()["use"]
            assert use["verdicts"][use["answers"][at]]["verdict"] == said["verdict"], flags
    assay("export", tmp_path / "page", "--store", store)
    assert json.loads((tmp_path / f"page/data/datasheets/{listed['id']}.json").read_text()) == sheet


def test_a_runs_log_holds_the_description_and_no_row(assay, endpoint, croissant, tmp_path):
    inline = {"cr:recordSet": [{
        "@type": "cr:RecordSet", "@id": "r", "name": "r",
        "cr:field": [{"@type": "cr:Field", "@id": "r/prompt", "name": "prompt",
                      "dataType": "sc:Text"}],
        "cr:data": [{"r/prompt": "SECRET-4711"}]}]}
    path = croissant(**inline)
    server = endpoint()
    assay("run", "--endpoint", server.url, "--model", "m", "--dataset", f"croissant:{path}#r",
          "--samples", 1, "--report-dir", tmp_path / "run", "--quiet", "--allow-client-limited",
          "--keep-text", "off")
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file() and file.name != "events.jsonl":
            assert b"SECRET-4711" not in file.read_bytes(), file
