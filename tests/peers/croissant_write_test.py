"""What `assay dataset --croissant` and `assay bundle` write: valid for mlcroissant, its rows read
as they stand, and the same graph for rdflib as what mlcroissant makes of it."""

import csv
import json
import tarfile

import pytest
import rdflib
import rdflib.compare
from croissant_test import mlcroissant

CR = rdflib.Namespace("http://mlcommons.org/croissant/")
PROV = rdflib.Namespace("http://www.w3.org/ns/prov#")
SC = rdflib.Namespace("https://schema.org/")
META = ("--meta", "license=https://spdx.org/licenses/CC0-1.0", "--meta", "url=https://example.com",
        "--meta", "creator=us", "--meta", "citeAs=us 2026", "--meta", "datePublished=2026-11-24",
        "--meta", "derivedFrom=urn:example:source")

ROWS = [{"id": 1, "prompt": "what is\nit?", "share": 0.5, "tags": ["a", "b"], "ok": True},
        {"id": 2, "prompt": "größe", "share": 2.0, "tags": ["c"], "ok": False}]


def graph_of(document):
    graph = rdflib.Graph()
    graph.parse(data=json.dumps(document), format="json-ld", base="http://base.example/")
    return graph


@pytest.fixture
def data(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with (tmp_path / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "a name", "share"))
        writer.writerows(((1, "one, two", 0.5), (2, "three", 2)))
    return tmp_path


@pytest.mark.parametrize("name", ["rows.jsonl", "table.csv"])
def test_a_description_is_valid_and_the_same_graph_as_mlcroissant_makes(assay, data, name):
    out = data / f"{name}.json"
    assay("dataset", data / name, "--croissant", out, *META)
    document = json.loads(out.read_text())
    for profile in ("mlcroissant", "spec", "assay"):
        assert assay("dataset", out, "--check", "--profile", profile).out.endswith(
            "0 errors, 0 warnings\n")
    dataset = mlcroissant.Dataset(jsonld=out)
    assert not dataset.metadata.issues.errors and not dataset.metadata.issues.warnings
    ours, again = graph_of(document), graph_of(dataset.metadata.to_json())
    (root,) = ours.subjects(rdflib.RDF.type, SC.Dataset)
    # The library writes a few of our terms in another of the specification's forms; whatever it
    # keeps has to be the same triple, and it may lose no more than these.
    both, only_ours, only_theirs = rdflib.compare.graph_diff(
        rdflib.compare.to_isomorphic(ours), rdflib.compare.to_isomorphic(again))
    lost = {str(p) for _, p, _ in only_ours} | {str(p) for _, p, _ in only_theirs}
    assert lost <= set(), (sorted(only_ours), sorted(only_theirs))
    assert len(both) == len(ours) and len(ours) > 30
    # Facts that the test states by itself.
    assert (root, PROV.wasDerivedFrom, rdflib.URIRef("urn:example:source")) in ours
    assert {str(one) for one in ours.objects(None, CR.column)} == (
        {"id", "prompt", "share", "tags", "ok"} if name == "rows.jsonl"
        else {"id", "a name", "share"})
    assert len(set(ours.subjects(rdflib.RDF.type, CR.FileObject))) == 1
    records = list(dataset.records("rows"))
    assert [row["rows/id"] for row in records] == [1, 2]
    read = [json.loads(line) for line in
            assay("dataset", f"croissant:{out}#rows", "--rows").out.splitlines()]
    assert [row["id"] for row in read] == [1, 2]
    if name == "rows.jsonl":
        assert [row["prompt"] for row in read] == [row["prompt"] for row in ROWS]
        assert [row["tags"] for row in read] == [row["tags"] for row in ROWS]


def test_a_changed_byte_of_the_data_is_found_by_its_description(assay, data):
    out = data / "m.json"
    assay("dataset", data / "rows.jsonl", "--croissant", out)
    text = (data / "rows.jsonl").read_text()
    (data / "rows.jsonl").write_text(text.replace("what", "That"))
    assert assay("dataset", out, "--check", code=1).out.count("error") >= 1


def test_a_run_and_its_bundle_describe_themselves(assay, endpoint, data):
    server = endpoint("--ttft", "1ms", "--osl", "2")
    run = data / "run"
    assay("run", "--endpoint", server.url, "--model", "m", "--dataset", data / "rows.jsonl",
          "--concurrency", "1", "--max-output-tokens", "2", "--no-preflight",
          "--allow-client-limited", "--report-dir", run)
    assay("bundle", run, "--output", data / "run.tar")
    assert not (run / "croissant.json").exists()  # the folder stays as it is
    assay("verify", data / "run.tar")
    with tarfile.open(data / "run.tar") as bundle:
        bundle.extractall(data / "unpacked")
    described = data / "unpacked" / "croissant.json"
    document = json.loads(described.read_text())
    assert not mlcroissant.Dataset(jsonld=described).metadata.issues.errors
    graph = graph_of(document)
    names = {str(one) for one in graph.objects(None, SC.contentUrl)}
    assert any(name.endswith("assay/events-0.alog") for name in names)
    (activity,) = graph.objects(None, PROV.wasGeneratedBy)
    (used,) = graph.objects(activity, PROV.used)
    assert str(used).endswith("rows.jsonl")
    assay("verify", run)  # it is still what its manifest says
    walked = assay("dataset", described, "--provenance").out
    assert "wasGeneratedBy" in walked and "rows.jsonl" in walked
