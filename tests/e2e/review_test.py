"""The review board's history against whoever can open its database, and ids that could be paths."""

import json
import shutil
import sqlite3

import pytest

from explorer_test import write_tree

CHAIR = ("--role", "chair")
BAD_IDS = ["../../../../pwned", "x<script>", "..", ".hidden", "a/b", "a b", "a..b", "x" * 129]


@pytest.fixture
def board(assay, tmp_path):
    """A store with two submissions, and how many entries it has."""
    store = tmp_path / "team.db"
    for name in ("s1", "s2"):
        assay("review", "submit", name, *CHAIR, "--organisation", "We", "--store", store)
        assay("review", "check_passed", name, *CHAIR, "--store", store)
    return store


def verify(assay, store, *args, code=0):
    return assay("review", "verify", "--store", store, "--json", *args, code=code).json()


def tamper(store, *statements):
    """As somebody does who has the database's own shell; the order goes with the entries."""
    with sqlite3.connect(store) as db:
        for trigger in ("history_unchanged", "history_undeleted", "history_order_unchanged",
                        "history_order_undeleted"):
            db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            db.execute(statement.format("history"))
            db.execute(statement.format("history_order"))
    db.close()


CUTS = {
    "the last entry": ["DELETE FROM {} WHERE submission = 's2' AND sequence = 2"],
    "a whole submission": ["DELETE FROM {} WHERE submission = 's2'"],
    "everything": ["DELETE FROM {}"],
}


@pytest.mark.parametrize("cut", CUTS)
def test_what_was_cut_is_found_by_the_head_and_said_to_be_unprovable_without(assay, board, cut):
    head = board.with_name("team.db.head")
    kept = json.loads(head.read_text())
    assert kept == json.loads(assay("review", "head", "--store", board).out)
    assert verify(assay, board)["anchored"] is True
    tamper(board, *CUTS[cut])
    told = verify(assay, board, code=1)
    assert told["anchored"] is False and "does not go on from the head" in told["problems"][0]
    assert verify(assay, board, "--head", kept["hash"], code=1)["anchored"] is False
    # Nobody writes over the proof: an act is refused, and the file stays.
    refused = assay("review", "submit", "s3", *CHAIR, "--organisation", "We", "--store", board,
                    code=None)
    assert refused.code != 0 and "does not go on" in refused.err
    assert json.loads(head.read_text()) == kept
    elsewhere = head.rename(board.with_name("elsewhere.json"))
    assert verify(assay, board)["anchored"] is None
    assert "cannot be proved" in assay("review", "verify", "--store", board).out
    assert verify(assay, board, "--head", elsewhere, code=1)["anchored"] is False


def test_an_older_store_put_back_is_found_even_when_it_has_grown_again(assay, board, tmp_path):
    older = tmp_path / "older.db"
    shutil.copy(board, older)
    assay("review", "comment", "s1", *CHAIR, "--text", "one", "--store", board)
    head = tmp_path / "kept.json"
    head.write_text(assay("review", "head", "--store", board).out)
    assert verify(assay, older, "--head", head, code=1)["anchored"] is False
    for text in ("two", "three"):
        assay("review", "comment", "s1", *CHAIR, "--text", text, "--store", older)
    assert verify(assay, older, "--head", head, code=1)["anchored"] is False
    assert verify(assay, board, "--head", head)["entries_since"] == 0


def test_a_head_of_any_time_is_gone_on_from(assay, board, tmp_path):
    heads = []
    for text in ("one", "two", "three"):
        heads.append(json.loads(assay("review", "head", "--store", board).out))
        assay("review", "comment", "s1", *CHAIR, "--text", text, "--store", board)
    for since, head in zip((3, 2, 1), heads):
        file = tmp_path / "head.json"
        file.write_text(json.dumps(head))
        assert verify(assay, board, "--head", file)["entries_since"] == since
        assert verify(assay, board, "--head", head["hash"])["entries_since"] == since
    assert verify(assay, board, "--head", "f" * 64, code=1)["anchored"] is False
    (tmp_path / "bad.json").write_text("{}")
    assert "bad.json" in assay("review", "verify", "--store", board, "--head",
                               tmp_path / "bad.json", code=2).err
    assay("review", "verify", "--store", board, "--head", tmp_path / "none.json", code=2)


def test_entries_that_only_the_order_knows_are_missed_without_a_head(assay, board):
    board.with_name("team.db.head").unlink()
    with sqlite3.connect(board) as db:
        db.execute("DROP TRIGGER history_undeleted")
        db.execute("DELETE FROM history WHERE submission = 's2'")
    db.close()
    told = verify(assay, board, code=1)
    assert told["anchored"] is None and "2 entries are not where" in told["problems"][0]


def test_an_export_and_the_server_have_the_head(assay, board, tmp_path, explorer):
    write_tree(tmp_path / "tree", levels=(8,))
    assay("import", tmp_path / "tree", "--store", board)
    assay("export", tmp_path / "out", "--store", board)
    exported = tmp_path / "out/data/review_head.json"
    alone = list((tmp_path / "out/data/runs").glob("*.json"))
    assert alone and all(json.loads(file.read_text())["review_head"] ==
                         json.loads(exported.read_text()) for file in alone)
    assert verify(assay, board, "--head", alone[0])["entries_since"] == 0
    server = explorer("--store", board, "--writable", "--head", tmp_path / "own.head")
    assert server.get("review_head") == json.loads(exported.read_text())
    token = assay("review", "token", *CHAIR, "--store", board).out.strip()
    acts = "submissions/s1/acts"
    assert server.post(acts, {"kind": "comment", "text": "x"}, token)[0] == 201
    assert json.loads((tmp_path / "own.head").read_text()) == server.get("review_head")
    assert verify(assay, board, "--head", exported)["entries_since"] == 1
    tamper(board, *CUTS["a whole submission"])
    status, _, text = server.post(acts, {"kind": "comment", "text": "x"}, token)
    assert status == 500 and "does not go on" in text


@pytest.mark.parametrize("bad", BAD_IDS)
def test_an_id_that_could_be_a_path_or_a_page_is_refused(assay, board, explorer, bad, tmp_path):
    told = assay("review", "submit", bad, *CHAIR, "--organisation", "We", "--store", board, code=2)
    assert "a letter or digit first" in told.err
    told = assay("import", tmp_path, "--store", board, "--submission", bad, code=2)
    assert "--submission" in told.err
    server = explorer("--store", board, "--writable")
    token = assay("review", "token", *CHAIR, "--store", board).out.strip()
    status, _, text = server.post("submissions", {"id": bad, "organisation": "We"}, token)
    assert status == 400 and "a letter or digit first" in json.loads(text)["error"]["message"]


def test_an_old_store_s_bad_id_is_shown_and_is_no_path(assay, board, tmp_path):
    """A final one is exported with all others; its document would have been a file of its own."""
    bad = "../../../pwned"
    assay("review", "finalize", "s1", *CHAIR, "--store", board)
    tamper(board, f"UPDATE {{}} SET submission = '{bad}' WHERE submission = 's1'")
    listed = assay("review", "list", "--store", board, "--json").json()["items"]
    assert {one["id"] for one in listed} == {bad, "s2"}
    before = set(tmp_path.iterdir())
    assay("export", tmp_path / "a/b/c/out", "--store", board)
    exported = json.loads((tmp_path / "a/b/c/out/data/submissions.json").read_text())
    assert [one["id"] for one in exported["items"]] == [bad]
    assert not list(tmp_path.rglob("pwned*"))
    assert set(tmp_path.iterdir()) == before | {tmp_path / "a"}
