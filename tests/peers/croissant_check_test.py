"""Croissant files that are right and wrong: the verdict of mlcroissant on dozens of variants of one
document, and the records of joins over several sources."""

import copy
import json
import os
import subprocess

import pytest
from croissant_test import Document, field, ident, mlcroissant, of, of_set, zipped

CSV = "id,who,tag\n1,ann,x\n2,bob,y\n3,ann,z\n"
USERS = "name,age\nann,30\nbob,40\n"


def base(folder):
    """A document with a bit of everything, as JSON."""
    doc = Document(folder)
    doc.file("posts.csv", CSV, "text/csv")
    doc.file("users.csv", USERS, "text/csv")
    doc.file("box.zip", zipped({"a/1.txt": "one\n", "a/2.txt": "two\n"}), "application/zip")
    doc.files("texts", "box.zip", "a/*.txt", "text/plain")
    doc.file("tree.json", json.dumps({"rows": [{"t": "a"}, {"t": "b"}]}), "application/json")
    doc.record_set(
        "posts",
        field("posts/id", "sc:Integer", of("posts.csv"), {"column": "id"}),
        field("posts/who", "sc:Text", of("posts.csv"), {"column": "who"},
              references={"fileObject": ident("users.csv"), "extract": {"column": "name"}}),
        field("posts/age", "sc:Integer", of("users.csv"), {"column": "age"}))
    doc.record_set("files",
                   field("files/name", "sc:Text", of_set("texts"), {"fileProperty": "filename"},
                         {"regex": "(\\d)\\.txt"}),
                   field("files/text", "sc:Text", of_set("texts"), {"fileProperty": "content"}))
    doc.record_set("tree", field("tree/t", "sc:Text", of("tree.json"),
                                 {"jsonPath": "$.rows[*].t"}))
    doc.record_set(
        "kinds",
        {"@type": "cr:Field", "@id": "kinds/name", "name": "n", "dataType": "sc:Text"},
        {"@type": "cr:Field", "@id": "kinds/n", "name": "m", "dataType": "sc:Integer"},
        data=[{"kinds/name": "a", "kinds/n": 1}, {"kinds/name": "b", "kinds/n": 2}])
    path = doc.write()
    return path, json.loads(path.read_text())


def at(doc, *keys):
    for key in keys[:-1]:
        doc = doc[key]
    return doc, keys[-1]


def put(value, *keys):
    def change(doc):
        where, key = at(doc, *keys)
        where[key] = value
    return change


def drop(*keys):
    def change(doc):
        where, key = at(doc, *keys)
        del where[key]
    return change


def both(*changes):
    def change(doc):
        for one in changes:
            one(doc)
    return change


def array(shape, is_array=True):
    more = {"arrayShape": shape}
    if is_array:
        more["isArray"] = True

    def change(doc):
        doc["conformsTo"] = "http://mlcommons.org/croissant/1.1"
        doc["@context"].update({"isArray": "cr:isArray", "arrayShape": "cr:arrayShape"})
        doc["recordSet"][2]["field"][0].update(more)
    return change


POSTS, FILES, TREE, KINDS = 0, 1, 2, 3
VARIANTS = {
    "as it is": lambda doc: None,
    "version 1.1": put("http://mlcommons.org/croissant/1.1", "conformsTo"),
    "no type": put("sc:Thing", "@type"),
    "no name": drop("name"),
    "no description": drop("description"),
    "no licence": drop("license"),
    "no url": drop("url"),
    "no date": drop("datePublished"),
    "a bad date": put("tomorrow", "datePublished"),
    "a time": put("2026-01-01T10:00:00", "datePublished"),
    "no cite": drop("citeAs"),
    "no version": drop("version"),
    "live without checksums": both(put(True, "isLiveDataset"), drop("distribution", 0, "sha256")),
    "no checksum": drop("distribution", 0, "sha256"),
    "md5 alone": both(drop("distribution", 0, "sha256"),
                      put("5d41402abc4b2a76b9719d911017c592", "distribution", 0, "md5")),
    "no encoding of a file": drop("distribution", 0, "encodingFormat"),
    "no encoding of a set": drop("distribution", 3, "encodingFormat"),
    "no url of a file": drop("distribution", 0, "contentUrl"),
    "no includes": drop("distribution", 3, "includes"),
    "two includes": put(["a/*.txt", "b/*.txt"], "distribution", 3, "includes"),
    "a file of no type": put("cr:File", "distribution", 0, "@type"),
    "in what is not there": put(ident("none.zip"), "distribution", 3, "containedIn"),
    "a record set of no type": put("cr:Table", "recordSet", TREE, "@type"),
    "a field of no type": put("cr:Column", "recordSet", TREE, "field", 0, "@type"),
    "a field without a source": drop("recordSet", TREE, "field", 0, "source"),
    "source and value": put("x", "recordSet", TREE, "field", 0, "value"),
    "a constant": both(drop("recordSet", TREE, "field", 0, "source"),
                       put("x", "recordSet", TREE, "field", 0, "value")),
    "no data type": drop("recordSet", TREE, "field", 0, "dataType"),
    "a foreign data type": put("sc:Recipe", "recordSet", TREE, "field", 0, "dataType"),
    "two data types": put(["sc:Recipe", "sc:Text"], "recordSet", TREE, "field", 0, "dataType"),
    "a source that is not there": put(ident("no.json"), "recordSet", TREE, "field", 0, "source",
                                      "fileObject"),
    "a source of nothing": put({"extract": {"column": "t"}}, "recordSet", TREE, "field", 0,
                               "source"),
    "two sources": put(ident("texts"), "recordSet", TREE, "field", 0, "source", "fileSet"),
    "no join": drop("recordSet", POSTS, "field", 1, "references"),
    "a join to nothing": put({"fileObject": ident("no.csv"), "extract": {"column": "name"}},
                             "recordSet", POSTS, "field", 1, "references"),
    "two things in one transform": put({"regex": "(a)", "separator": ","}, "recordSet", TREE,
                                       "field", 0, "source", "transform"),
    "a list of transforms": put([{"regex": "(a)"}, {"separator": ","}], "recordSet", TREE,
                                "field", 0, "source", "transform"),
    "an empty transform": put([{}], "recordSet", TREE, "field", 0, "source", "transform"),
    "a bad path": put("$.rows[*", "recordSet", TREE, "field", 0, "source", "extract", "jsonPath"),
    "column and path": put("t", "recordSet", TREE, "field", 0, "source", "extract", "column"),
    "rows without a key": drop("recordSet", KINDS, "data", 0, "kinds/n"),
    "rows with one more": put(1, "recordSet", KINDS, "data", 0, "kinds/more"),
    "one row without brackets": put({"kinds/name": "a", "kinds/n": 1}, "recordSet", KINDS, "data"),
    "one row without brackets and a key": put({"kinds/name": "a"}, "recordSet", KINDS, "data"),
    "rows of text": put("a", "recordSet", KINDS, "data"),
    "references for source": both(
        drop("recordSet", TREE, "field", 0, "source"),
        put({"fileObject": ident("tree.json"), "extract": {"jsonPath": "$.rows[*].t"}},
            "recordSet", TREE, "field", 0, "references")),
    "in an empty list": put([], "distribution", 0, "containedIn"),
    "in an empty object": put({}, "distribution", 0, "containedIn"),
    "sources that @context does not know": drop("@context", "source"),
    "data types that @context does not know": drop("@context", "dataType"),
    "in an empty reference": put(ident(""), "distribution", 0, "containedIn"),
    "in a source": both(
        put("http://mlcommons.org/croissant/1.1", "conformsTo"),
        put({"fileObject": ident("box.zip"), "transform": {"unArchive": True}},
            "distribution", 3, "containedIn")),
    "in a source that is not there": put({"fileObject": ident("no.zip")}, "distribution", 3,
                                         "containedIn"),
    "in an empty text": put("", "distribution", 0, "containedIn"),
    "no rows": put([], "recordSet", KINDS, "data"),
    "a key": put(ident("posts/id"), "recordSet", POSTS, "key"),
    "a key of nothing": put(ident("posts/none"), "recordSet", POSTS, "key"),
    "sub-fields": put([field("tree/t/x", "sc:Text", of("tree.json"), {"jsonPath": "$.rows[*].t"})],
                      "recordSet", TREE, "field", 0, "subField"),
    "two of one id": put("files/text", "recordSet", FILES, "field", 0, "@id"),
    "an array": array("-1,3"),
    "a flat array": array("4"),
    "a shape of words": array("a,b"),
    "a shape of no array": array("-1", is_array=False),
    "names in two languages": both(
        put("http://mlcommons.org/croissant/1.1", "conformsTo"),
        put({"@id": "sc:name", "@container": "@language"}, "@context", "name"),
        put({"en": "d", "fr": "e"}, "name")),
    "a repeated field": put(True, "recordSet", TREE, "field", 0, "repeated"),
    "a field of another record set": both(
        put({"field": ident("tree/t")}, "recordSet", FILES, "field", 0, "source"),
        put({"field": ident("tree/t")}, "recordSet", FILES, "field", 1, "source")),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_verdict_is_mlcroissants(tmp_path, name):
    path, doc = base(tmp_path)
    doc = copy.deepcopy(doc)
    VARIANTS[name](doc)
    path.write_text(json.dumps(doc), encoding="utf-8")
    try:
        mlcroissant.Dataset(jsonld=path)
        theirs = True
    except Exception:  # pylint: disable=broad-except  # it has a dozen kinds
        theirs = False
    done = subprocess.run([os.environ["ASSAY_BIN"], "dataset", path, "--check", "--json"],
                          capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["valid"] is theirs, done.stdout


def users_and_tags(folder):
    doc = Document(folder)
    doc.file("posts.csv", CSV, "text/csv")
    doc.file("users.csv", USERS, "text/csv")
    doc.file("tags.csv", "tag,colour,owner\nx,red,ann\ny,blue,bob\nz,green,ann\n", "text/csv")
    return doc


def column(name, kind, file, key, **more):
    return field(name, kind, of(file), {"column": key}, **more)


def to(file, key):
    return {"fileObject": ident(file), "extract": {"column": key}}


@pytest.mark.parametrize("shape", ["star", "chain", "triangle"])
def test_three_sources_join(assay, tmp_path, shape):
    doc = users_and_tags(tmp_path)
    first = column("r/who", "sc:Text", "posts.csv", "who", references=to("users.csv", "name"))
    fields = [column("r/id", "sc:Integer", "posts.csv", "id"), first,
              column("r/age", "sc:Integer", "users.csv", "age"),
              column("r/colour", "sc:Text", "tags.csv", "colour")]
    if shape in ("star", "triangle"):
        fields.append(column("r/tag", "sc:Text", "posts.csv", "tag",
                             references=to("tags.csv", "tag")))
    if shape == "chain":
        fields.append(column("r/name", "sc:Text", "users.csv", "name",
                             references=to("tags.csv", "owner")))
    if shape == "triangle":
        fields.append(column("r/owner", "sc:Text", "tags.csv", "owner",
                             references=to("users.csv", "name")))
    doc.record_set("r", *fields)
    path = doc.write()
    out = assay("dataset", f"croissant:{path}#r", "--rows", "--all").out
    rows = [json.loads(line) for line in out.splitlines()]
    got = [(row["id"], row["age"], row["colour"]) for row in rows]
    if shape == "chain":
        assert got == [(1, 30, "red"), (1, 30, "green"), (2, 40, "blue"), (3, 30, "red"),
                       (3, 30, "green")]
    else:
        assert got == [(1, 30, "red"), (2, 40, "blue"), (3, 30, "green")]


def test_sources_that_nothing_joins_are_refused(assay, tmp_path):
    doc = users_and_tags(tmp_path)
    doc.record_set("r", column("r/id", "sc:Integer", "posts.csv", "id"),
                   column("r/colour", "sc:Text", "tags.csv", "colour"))
    path = doc.write()
    err = assay("dataset", f"croissant:{path}#r", "--rows", code=2).err
    assert "no `references` joins 'tags.csv'" in err
    done = assay("dataset", path, "--check", code=1).out
    assert "set-join" in done and "'posts.csv' and 'tags.csv'" in done


def test_a_check_reads_the_first_rows(assay, tmp_path):
    path, doc = base(tmp_path)
    assert "0 errors" in assay("dataset", path, "--check").out
    doc["recordSet"][POSTS]["field"][0]["dataType"] = "sc:Integer"
    doc["recordSet"][POSTS]["field"][0]["source"]["extract"]["column"] = "who"
    doc["recordSet"][TREE]["field"][0]["source"]["transform"] = {"regex": "\\d+"}
    path.write_text(json.dumps(doc), encoding="utf-8")
    out = assay("dataset", path, "--check", code=1).out
    assert "rows: recordSet 'posts'" in out and "\"ann\" is not of type Integer" in out
    assert "captures nothing" in out
    (tmp_path / "tree.json").unlink()
    assert "file: recordSet 'tree'" in assay("dataset", path, "--check", code=1).out
    path.write_text("{", encoding="utf-8")
    assert "json: the file" in assay("dataset", path, "--check", code=1).out
