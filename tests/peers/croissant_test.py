"""Croissant record sets: the records that mlcroissant makes, and the escapes that it misses."""

import hashlib
import io
import json
import os
import tarfile
import tempfile
import zipfile

import pytest

# It keeps what it unpacked by the archive's name, from run to run.
os.environ["CROISSANT_CACHE"] = tempfile.mkdtemp(prefix="croissant")
import mlcroissant  # noqa: E402

CONTEXT = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet", "format": "cr:format",
    "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex",
    "repeated": "cr:repeated", "replace": "cr:replace", "sc": "https://schema.org/",
    "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
    "transform": "cr:transform"}


def ident(name):
    return {"@id": name}


class Document:
    """A metadata file in the making, and the files beside it."""

    def __init__(self, folder):
        self.folder = folder
        self.resources, self.sets = [], []

    def file(self, name, content, encoding, **more):
        data = content if isinstance(content, bytes) else content.encode()
        if "containedIn" not in more:
            (self.folder / name).write_bytes(data)
            more.setdefault("sha256", hashlib.sha256(data).hexdigest())
        self.resources.append({"@type": "cr:FileObject", "@id": name, "name": name,
                               "contentUrl": name, "encodingFormat": encoding, **more})

    def files(self, name, container, includes, encoding):
        self.resources.append({"@type": "cr:FileSet", "@id": name, "name": name,
                               "containedIn": ident(container), "includes": includes,
                               "encodingFormat": encoding})

    def record_set(self, name, *fields, **more):
        self.sets.append({"@type": "cr:RecordSet", "@id": name, "name": name,
                          "field": list(fields), **more})

    def write(self):
        path = self.folder / "metadata.json"
        path.write_text(json.dumps({
            "@context": CONTEXT, "@type": "sc:Dataset", "name": "d", "description": "d",
            "conformsTo": "http://mlcommons.org/croissant/1.0", "url": "https://example.com/d",
            "license": "https://example.com/l", "datePublished": "2026-01-01", "version": "1.0.0",
            "citeAs": "c", "distribution": self.resources, "recordSet": self.sets}),
            encoding="utf-8")
        return path


def field(name, kind, source, extract=None, transform=None, **more):
    body = dict(source)
    if extract:
        body["extract"] = extract
    if transform:
        body["transform"] = transform
    return {"@type": "cr:Field", "@id": name, "name": name, "dataType": kind, "source": body,
            **more}


def of(name):
    return {"fileObject": ident(name)}


def of_set(name):
    return {"fileSet": ident(name)}


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {key.split("/")[-1]: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        return value.item()
    return value


@pytest.fixture
def rows_of(assay):
    def read(path, name, **options):
        out = assay("dataset", f"croissant:{path}#{name}", "--rows", "--all", **options).out
        return [json.loads(line) for line in out.splitlines()]
    return read


def peers(path, name):
    dataset = mlcroissant.Dataset(jsonld=path)
    return [plain(record) for record in dataset.records(record_set=name)]


def same(rows_of, path, name, ordered=True):
    ours, theirs = rows_of(path, name), peers(path, name)
    if not ordered:
        ours, theirs = (sorted(rows, key=json.dumps) for rows in (ours, theirs))
    assert ours == theirs
    return ours


@pytest.fixture
def document(tmp_path):
    return Document(tmp_path)


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


CSV = 'id,question,score,tags\n1,"What, now?",0.5,a|b\n2,Why?,1.5,c\n3,,2.0,a|b|c\n'


def test_csv_columns_types_and_transforms(rows_of, document):
    document.file("q.csv", CSV, "text/csv")
    document.record_set(
        "r", field("r/id", "sc:Integer", of("q.csv"), {"column": "id"}),
        field("r/question", "sc:Text", of("q.csv"), {"column": "question"}),
        field("r/score", "sc:Float", of("q.csv"), {"column": "score"}),
        field("r/tags", "sc:Text", of("q.csv"), {"column": "tags"}, {"separator": "|"},
              repeated=True))
    rows = same(rows_of, document.write(), "r")
    assert rows[2]["question"] is None and rows[0]["tags"] == ["a", "b"]


def test_files_in_a_zip_and_the_name_by_a_regex(rows_of, document):
    document.file("a.zip", zipped({"train/q1.csv": CSV, "test/q2.csv": CSV}), "application/zip")
    document.files("all", "a.zip", "*/*.csv", "text/csv")
    document.record_set(
        "r", field("r/split", "sc:Text", of_set("all"), {"fileProperty": "fullpath"},
              {"regex": "^(train|test)/.*\\.csv$"}),
        field("r/name", "sc:Text", of_set("all"), {"fileProperty": "filename"},
              {"regex": "q(\\d+)\\.csv"}))
    # It reads no columns beside a file's properties; here each row has its file's.
    document.record_set(
        "rows", field("rows/id", "sc:Integer", of_set("all"), {"column": "id"}),
        field("rows/name", "sc:Text", of_set("all"), {"fileProperty": "filename"}))
    path = document.write()
    same(rows_of, path, "r", ordered=False)
    names = [(row["id"], row["name"]) for row in rows_of(path, "rows")]
    assert names == [(i, f"q{n}.csv") for n in (2, 1) for i in (1, 2, 3)]


def test_a_file_in_a_zip(rows_of, document):
    document.file("b.zip", zipped({"in/q.csv": CSV}), "application/zip")
    document.file("in/q.csv", "", "text/csv", containedIn=ident("b.zip"))
    document.record_set("r", field("r/id", "sc:Integer", of("in/q.csv"), {"column": "id"}))
    same(rows_of, document.write(), "r")


def test_files_in_a_tar(rows_of, document):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name in ("x/1.txt", "x/2.txt", "y/3.txt"):
            info = tarfile.TarInfo(name)
            info.size = len(name)
            archive.addfile(info, io.BytesIO(name.encode()))
    document.file("a.tar.gz", out.getvalue(), "application/x-tar")
    document.files("texts", "a.tar.gz", "x/*.txt", "text/plain")
    document.record_set(
        "r", field("r/text", "sc:Text", of_set("texts"), {"fileProperty": "content"}),
        field("r/name", "sc:Text", of_set("texts"), {"fileProperty": "filename"}))
    assert len(same(rows_of, document.write(), "r", ordered=False)) == 2


def test_json_lines_and_json_paths(rows_of, document):
    lines = "".join(json.dumps({"q": f"question {i}", "n": i}) + "\n" for i in range(5))
    document.file("a.jsonl", lines, "application/jsonlines")
    document.record_set("lines", field("lines/q", "sc:Text", of("a.jsonl"), {"column": "q"}),
                        field("lines/n", "sc:Integer", of("a.jsonl"), {"column": "n"}))
    tree = {"rows": [{"t": "a", "m": {"k": 1}}, {"t": "b", "m": {"k": 2}}]}
    document.file("b.json", json.dumps(tree), "application/json")
    document.record_set(
        "paths", field("paths/t", "sc:Text", of("b.json"), {"jsonPath": "$.rows[*].t"}),
        field("paths/k", "sc:Integer", of("b.json"), {"jsonPath": "$.rows[*].m.k"}))
    path = document.write()
    same(rows_of, path, "lines")
    same(rows_of, path, "paths")


def test_lines_of_text(rows_of, document):
    document.file("c.zip", zipped({"one.txt": "alpha\nbeta\n", "two.txt": "gamma\n"}),
                  "application/zip")
    document.files("texts", "c.zip", "*.txt", "text/plain")
    document.record_set(
        "r", field("r/line", "sc:Text", of_set("texts"), {"fileProperty": "lines"}),
        field("r/file", "sc:Text", of_set("texts"), {"fileProperty": "filename"}))
    assert len(same(rows_of, document.write(), "r", ordered=False)) == 3


def test_a_join_by_references(rows_of, document):
    document.file("posts.csv", "who,text\nann,one\nbob,two\nann,three\ncyd,four\n", "text/csv")
    document.file("users.csv", "name,age\nann,30\nbob,40\n", "text/csv")
    document.record_set("users",
                        field("users/name", "sc:Text", of("users.csv"), {"column": "name"}),
                        field("users/age", "sc:Integer", of("users.csv"), {"column": "age"}))
    document.record_set(
        "posts",
        field("posts/who", "sc:Text", of("posts.csv"), {"column": "who"},
              references={"fileObject": ident("users.csv"), "extract": {"column": "name"}}),
        field("posts/text", "sc:Text", of("posts.csv"), {"column": "text"}),
        field("posts/age", "sc:Text", of("users.csv"), {"column": "age"}))
    path = document.write()
    ours = rows_of(path, "posts")
    assert [row["age"] for row in ours] == ["30", "40", "30", None]
    theirs = peers(path, "posts")
    assert [(r["who"], r["text"]) for r in ours] == [(r["who"], r["text"]) for r in theirs]


def test_rows_in_the_file_itself_and_a_filter(rows_of, document):
    splits = [{"splits/name": "train", "splits/n": 1}, {"splits/name": "test", "splits/n": 2}]
    document.record_set(
        "splits",
        {"@type": "cr:Field", "@id": "splits/name", "name": "n", "dataType": "sc:Text"},
        {"@type": "cr:Field", "@id": "splits/n", "name": "n", "dataType": "sc:Integer"},
        data=splits)
    path = document.write()
    same(rows_of, path, "splits")
    assert rows_of(path, "splits?name=test") == [{"name": "test", "n": 2}]


def test_prompts_of_a_record_set_are_asked(assay, document):
    document.file("q.csv", CSV.replace("3,,", "3,Who?,"), "text/csv")
    document.record_set("r", field("r/question", "sc:Text", of("q.csv"), {"column": "question"}))
    shown = assay("dataset", f"croissant:{document.write()}#r", "--json").json()["shown"]
    assert [sample["prompt"] for sample in shown] == ["What, now?", "Why?", "Who?"]


def test_what_leaves_the_folder_is_refused(assay, document):
    (document.folder.parent / "secret.csv").write_text(CSV, encoding="utf-8")
    (document.folder / "link.csv").symlink_to(document.folder.parent / "secret.csv")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("../x.csv")
        info.size = len(CSV)
        archive.addfile(info, io.BytesIO(CSV.encode()))
    document.file("evil.tar", tar.getvalue(), "application/x-tar")
    document.file("evil.zip", zipped({"../x.csv": CSV}), "application/zip")
    document.resources += [
        {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name,
         "encodingFormat": "text/csv"} for name in ("../secret.csv", "link.csv", "/etc/passwd")]
    for box in ("evil.tar", "evil.zip"):
        document.files("in " + box, box, "*.csv", "text/csv")
    names = ["../secret.csv", "link.csv", "/etc/passwd"]
    for i, name in enumerate(names):
        document.record_set(f"r{i}", field(f"r{i}/id", "sc:Text", of(name), {"column": "id"}))
    for i, box in enumerate(("evil.tar", "evil.zip")):
        document.record_set(f"b{i}",
                            field(f"b{i}/id", "sc:Text", of_set("in " + box), {"column": "id"}))
    path = document.write()
    for name in ("r0", "r1", "r2", "b0", "b1"):
        err = assay("dataset", f"croissant:{path}#{name}", "--rows", code=2).err
        assert "leave" in err, err


def test_a_wrong_checksum_a_bomb_and_a_circle_are_errors(assay, document):
    document.file("q.csv", CSV, "text/csv", sha256="0" * 64)
    document.record_set("sum", field("sum/id", "sc:Text", of("q.csv"), {"column": "id"}))
    document.file("bomb.zip", zipped({"a.csv": b"a\n" + b"0" * (1 << 22)}), "application/zip")
    data = bytearray((document.folder / "bomb.zip").read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24:at + 28] = (0x30000000).to_bytes(4, "little")  # a size that is a lie
    (document.folder / "bomb.zip").write_bytes(data)
    document.resources[-1]["sha256"] = hashlib.sha256(data).hexdigest()
    document.files("in bomb", "bomb.zip", "*.csv", "text/csv")
    document.record_set("bomb", field("bomb/a", "sc:Text", of_set("in bomb"), {"column": "a"}))
    document.files("one", "two", "*", "text/csv")
    document.files("two", "one", "*", "text/csv")
    document.record_set("circle", field("circle/a", "sc:Text", of_set("one"), {"column": "a"}))
    path = document.write()
    for name, word in (("sum", "sha256"), ("bomb", "lie"), ("circle", "circle"),
                       ("none", "no record set")):
        assert word in assay("dataset", f"croissant:{path}#{name}", "--rows", code=2).err
