"""assay import, serve, export and review: the API, and what must be refused."""

import datetime
import gzip
import http.client
import json
import re
import urllib.parse

import pytest

NASTY = """'; DROP TABLE curves; -- "<script>alert(1)</script><img src=x onerror=x()>\\u2028%00"""


def write_tree(folder, name="sys", model="gpt-oss-120b", levels=(8, 64, 512)):
    """A submission tree; every text in it is `name`."""
    for level in levels:
        point = folder / "results" / "s" / model / f"r{level}"
        point.mkdir(parents=True)
        tokens = 1000 * level
        (point / "result_summary.json").write_text(json.dumps({
            "n_samples_issued": 100, "n_samples_completed": 100, "n_samples_failed": 0,
            "duration_ns": 10_000_000_000, "complete": True, "version": name, "state": name,
            "ttft": {"percentiles": {"50.0": 1e8, "90.0": 2e8, "99.0": 3e8}},
            "tpot": {"percentiles": {"50.0": 1e7, "90.0": 1e7 + level * 1e4, "99.0": 3e7}},
            "output_sequence_lengths": {"total": tokens}}))
        (point / "system_desc.json").write_text(json.dumps({
            "system_name": name, "division": name, "system_availability_status": name,
            "serving_framework": name, "submitter": name,
            "node_types": [{"number_of_nodes": 1, "accelerator_info": [
                {"accelerator_model_name": name, "accelerators_per_node": 8}]}]}))
        (point / "point.yaml").write_text(json.dumps(
            {"concurrency": level, "dataset": name, "region": name, "target_cohort": name}))


@pytest.fixture(name="store")
def a_store(assay, tmp_path):
    write_tree(tmp_path / "tree")
    assay("import", tmp_path / "tree", "--store", tmp_path / "s.db")
    return tmp_path / "s.db"


def test_importing_twice_changes_nothing(assay, tmp_path, store):
    again = assay("import", tmp_path / "tree", "--store", store, "--json").json()
    assert again == {"curves": 1, "curves_new": 0, "points": 3, "points_new": 0,
                     "points_changed": 0, "datasheets": 0, "notes": 0}


def test_the_api_answers_and_says_when_nothing_changed(explorer, store):
    server = explorer("--store", store)
    models = server.get("models")["items"]
    assert [m["name"] for m in models] == ["gpt-oss-120b"] and models[0]["points"] == 3
    page = server.get("curves?model=gpt-oss-120b")
    curve = page["items"][0]
    assert [p["concurrency"] for p in curve["points"]] == [8, 64, 512]
    assert curve["peak_tps"] == 51200 and page["next"] is None
    assert server.get(f"curves/{curve['id']}")["points"] == curve["points"]
    run = server.get(f"runs/{curve['points'][1]['id']}")
    assert run["point"]["concurrency"] == 64 and run["has_events"] is False
    assert run["findings"], "assay check has something to say of such a tree"
    both = server.get(f"compare?a={curve['id']}&b={curve['id']}")
    assert len(both["equal_concurrency"]) == 3 and both["differences"] == []
    assert {one["ratio"] for one in both["equal_interactivity"]} == {1.0}
    status, headers, _ = server.ask("/api/v1/curves")
    assert status == 200
    assert server.ask("/api/v1/curves", If_None_Match=headers["ETag"])[0] == 304
    packed, content = server.packed("/api/v1/curves")
    assert packed["Content-Encoding"] == "gzip" and packed["Vary"] == "Accept-Encoding"
    assert gzip.decompress(content).decode() == server.ask("/api/v1/curves")[2]
    assert packed["ETag"] != headers["ETag"]
    assert server.ask("/api/v1/curves", Accept_Encoding="br, gzip;q=0.5",
                      If_None_Match=packed["ETag"])[0] == 304
    for refused in ("br", "gzip;q=0", "*;q=0.000", ""):
        assert "Content-Encoding" not in server.ask("/api/v1/curves", Accept_Encoding=refused)[1]
    assert server.ask("/api/v1/curves/none")[0] == 404
    assert server.ask("/api/v1/curves?limit=0")[0] == 400


def test_pages_of_a_list_hold_everything_once(assay, explorer, tmp_path):
    for i in range(7):
        write_tree(tmp_path / f"t{i}", name=f"system {i}", levels=(4, 40))
        assay("import", tmp_path / f"t{i}", "--store", tmp_path / "s.db")
    server = explorer("--store", tmp_path / "s.db")
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"curves?limit=3&cursor={cursor}")
        seen += [curve["system_name"] for curve in page["items"]]
        cursor = page["next"]
    assert sorted(seen) == [f"system {i}" for i in range(7)]


def test_a_missing_or_wrong_token_is_refused(explorer, store):
    server = explorer("--store", store)
    for path in ("/", "/api/v1/curves", "/api/v1/live", "/explorer.js"):
        assert server.ask(path, Authorization=None)[0] == 401, path
        assert server.ask(path, Authorization="Bearer " + "0" * 32)[0] == 401, path
        assert server.ask(path, Authorization=None, Cookie="assay_session=x")[0] == 401, path
    assert server.ask("/?token=wrong", Authorization=None)[0] == 401
    status, headers, _ = server.ask(f"/?token={server.token}", Authorization=None)
    assert status == 303 and headers["Location"] == "/"
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    pair = cookie.split(";")[0]
    status, headers, page = server.ask("/", Authorization=None, Cookie=pair)
    assert status == 200 and server.token not in page
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_holidays_of_a_file_move_what_is_due(assay, explorer, tmp_path):
    store = tmp_path / "r.db"
    we, they = ("--role", "submitter", "--organisation", "We"), ("--role", "reviewer",
                                                                 "--organisation", "They")
    assay("review", "submit", "s1", *we, "--store", store)
    assay("review", "check_passed", "s1", "--role", "chair", "--store", store)
    assay("review", "objection", "s1", *they, "--objection-kind", "validity", "--text", "why",
          "--store", store)

    def answer_due(*more):
        told = assay("review", "show", "s1", "--json", "--store", store, *more).json()
        return min(due["date"] for due in told["due"] if due["by"] == "We")

    today = datetime.datetime.now(datetime.timezone.utc).date()
    days = [today + datetime.timedelta(days=n) for n in range(1, 11)]
    holidays = tmp_path / "holidays.txt"
    holidays.write_text("# closed\n" + "".join(f"{day}  a holiday\n" for day in days))
    assert answer_due() <= str(days[-1]) < answer_due("--holidays", holidays)
    server = explorer("--store", store, "--holidays", holidays)
    served = min(due["date"] for due in server.get("submissions/s1")["due"] if due["by"] == "We")
    assert served == answer_due("--holidays", holidays)
    holidays.write_text("2026-12-25 Christmas\nBoxing Day\n")
    told = assay("review", "list", "--store", store, "--holidays", holidays, code=2).err
    assert "holidays.txt" in told and "line 2" in told


def test_a_submission_is_shown_with_the_words_of_each_act(assay, tmp_path):
    store = ("--store", tmp_path / "r.db")
    they = ("--role", "reviewer", "--organisation", "They")
    assay("review", "submit", "s1", "--role", "submitter", "--organisation", "We", *store)
    assay("review", "check_passed", "s1", "--role", "chair", *store)
    assay("review", "finding", "s1", *they, "--severity", "warning", "--rule", "R7",
          "--text", "the warm-up overlaps", *store)
    assay("review", "comment", "s1", *they, "--text", "see \x1b[31mpoint 8", *store)
    shown = assay("review", "show", "s1", *store).out
    assert "They  finding warning R7: the warm-up overlaps\n" in shown
    assert "They  comment: see " in shown and "point 8\n" in shown and "\x1b" not in shown


def test_another_host_and_another_origin_are_refused(assay, explorer, store):
    chair = assay("review", "token", "--role", "chair", "--store", store).out.strip()
    server = explorer("--store", store, "--writable")
    for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.1:1", ""):
        assert server.ask("/api/v1/curves", Host=host)[0] == 403, host
    new = {"id": "s1", "organisation": "We"}
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Origin": f"https://{server.host}"}, {"Sec_Fetch_Site": "cross-site"},
                    {"Sec_Fetch_Site": "same-site"}, {"Content_Type": "text/plain"},
                    {"Content_Type": "application/x-www-form-urlencoded"}):
        assert server.post("submissions", new, chair, **headers)[0] == 403, headers
    assert server.get("submissions")["total"] == 0
    own = {"Origin": f"http://{server.host}", "Sec_Fetch_Site": "same-origin"}
    assert server.post("submissions", new, chair, **own)[0] == 201


def test_nothing_is_written_without_being_asked_for(assay, explorer, store):
    chair = assay("review", "token", "--role", "chair", "--store", store).out.strip()
    server = explorer("--store", store)
    assert server.post("submissions", {"id": "s", "organisation": "We"}, chair)[0] == 403
    for method in ("PUT", "DELETE", "PATCH"):
        status = server.ask("/api/v1/curves", method, "{}", Content_Type="application/json")[0]
        assert status in (403, 405), method
    assert server.get("session")["writable"] is False


def test_roles_are_proven_by_tokens_and_can_be_taken_back(assay, explorer, store):
    def token(*args):
        return assay("review", "token", "--store", store, *args).out.strip()

    we = token("--role", "submitter", "--organisation", "We")
    they = token("--role", "reviewer", "--organisation", "They")
    chair = token("--role", "chair")
    server = explorer("--store", store, "--writable")
    assert server.post("submissions", {"id": "s1", "organisation": "They"}, we)[0] == 409
    assert server.post("submissions", {"id": "s1", "organisation": "We"}, we)[0] == 201
    assert server.post("submissions", {"id": "s1", "organisation": "We"}, we)[0] == 409
    acts = "submissions/s1/acts"
    assert server.post(acts, {"kind": "check_passed"}, we)[0] == 409
    assert server.post(acts, {"kind": "check_passed"}, chair)[0] == 201
    objection = {"kind": "objection", "objection_kind": "validity", "text": NASTY}
    status, _, text = server.post(acts, objection, they)
    assert status == 201 and json.loads(text)["objections"][0]["text"] == NASTY
    assert server.post(acts, {"kind": "finalize"}, chair)[0] == 409
    assert server.post(acts, {"kind": "comment", "text": "x"}, server.token)[0] == 403
    assert server.post("submissions/none/acts", {"kind": "comment", "text": "x"}, chair)[0] == 404
    for body in ("", "[]", "{", "null", '{"kind": 7}'):
        status = server.ask("/api/v1/" + acts, "POST", body, Content_Type="application/json",
                            Authorization=f"Bearer {chair}")[0]
        assert status == 400, body
    shown = server.get("submissions/s1")
    assert shown["history_intact"] and [e["kind"] for e in shown["history"]] == [
        "submitted", "check_passed", "objection"]
    assay("review", "revoke", they, "--store", store)
    assert server.post(acts, {"kind": "comment", "text": "x"}, they)[0] == 401
    assay("review", "verify", "--store", store)


def test_no_path_leads_to_a_file(explorer, store, tmp_path):
    (tmp_path / "secret.txt").write_text("the secret")
    server = explorer("--store", store)
    for path in ("/../secret.txt", "/../../../../etc/passwd", "/%2e%2e/secret.txt",
                 "/..%2fsecret.txt", "/....//secret.txt", "//etc/passwd", "/etc/passwd",
                 "/index.html/../../etc/passwd", "/%00", "/explorer.js%00.html",
                 "/api/v1/../../etc/passwd", "/api/v1/runs/..%2f..%2fetc%2fpasswd",
                 "/api/v1/runs/%2fetc%2fpasswd/events", "/api/v1/runs/../events",
                 "file:///etc/passwd", f"/{tmp_path}/secret.txt", "/s.db"):
        status, _, text = server.ask(path)
        assert status in (400, 404), (path, status)
        assert "root:" not in text and "the secret" not in text, path


def test_bodies_and_heads_that_are_too_large_are_cut_off(assay, explorer, store):
    chair = assay("review", "token", "--role", "chair", "--store", store).out.strip()
    server = explorer("--store", store, "--writable")
    large = json.dumps({"id": "s", "organisation": "x" * 300_000})
    try:
        status = server.ask("/api/v1/submissions", "POST", large, Content_Type="application/json",
                            Authorization=f"Bearer {chair}")[0]
    except (BrokenPipeError, ConnectionResetError):
        status = 413
    assert status == 413
    assert server.ask("/api/v1/curves", X_Large="x" * 20_000)[0] == 431
    long = {"id": "s", "organisation": "x" * 1000}
    assert server.post("submissions", long, chair)[0] == 400
    assert server.get("submissions")["total"] == 0


def test_texts_of_sql_and_html_stay_texts(assay, explorer, tmp_path):
    write_tree(tmp_path / "tree", name=NASTY)
    assay("import", tmp_path / "tree", "--store", tmp_path / "s.db", "--model", NASTY)
    server = explorer("--store", tmp_path / "s.db")
    shown = NASTY.replace("\n", " ")
    curve = server.get("curves?" + urllib.parse.urlencode({"model": shown}))["items"][0]
    for field in ("model", "dataset", "system_name", "organisation", "division", "availability",
                  "accelerator", "software"):
        assert curve[field] == shown, field
    for field in ("model", "dataset", "accelerator", "software", "division", "availability",
                  "organisation", "kind", "accuracy", "system", "cursor", "q"):
        asked = urllib.parse.urlencode({field: shown})
        assert server.ask("/api/v1/curves?" + asked)[0] == 200, field
    for path in ("curves/", "runs/", "systems/", "submissions/"):
        assert server.ask("/api/v1/" + path + urllib.parse.quote(NASTY, safe=""))[0] == 404
    status, headers, _ = server.ask("/api/v1/curves")
    assert status == 200 and headers["Content-Type"] == "application/json"
    assert server.get("models")["items"][0]["name"] == shown
    assay("export", tmp_path / "out", "--store", tmp_path / "s.db")
    script = (tmp_path / "out/data/curves.js").read_text()
    assert "<" not in script and "\u2028" not in script


def test_what_is_exported_is_what_is_served(assay, explorer, store, tmp_path):
    assay("export", tmp_path / "out", "--store", store)
    server = explorer("--store", store)
    served = server.get("curves")
    exported = json.loads((tmp_path / "out/data/curves.json").read_text())
    assert exported == served
    for point in served["items"][0]["points"]:
        run = json.loads((tmp_path / f"out/data/runs/{point['id']}.json").read_text())
        assert run == server.get(f"runs/{point['id']}")
    index = json.loads((tmp_path / "out/data/index.json").read_text())
    for name in index["documents"]:
        text = (tmp_path / f"out/data/{name}.js").read_text()
        assert re.match(r'assayData\("[\w/-]+",', text), name
    assert 'content="static"' in (tmp_path / "out/index.html").read_text() or \
        "without its page" in (tmp_path / "out/index.html").read_text()
    assay("export", tmp_path / "out", "--store", store)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("mine")
    assay("export", tmp_path / "other", "--store", store, code=2)


def test_a_run_that_goes_on_is_heard_of_and_is_there_when_it_has_ended(assay, endpoint, explorer,
                                                                         tmp_path):
    (tmp_path / "runs").mkdir()
    server = explorer(tmp_path / "runs")
    connection = http.client.HTTPConnection(server.host, timeout=60)
    connection.request("GET", "/api/v1/live", headers={"Authorization": f"Bearer {server.token}"})
    stream = connection.getresponse()
    assert stream.status == 200 and stream.headers["Content-Type"] == "text/event-stream"
    source = endpoint("--osl", 20, "--ttft", "2ms", "--itl", "1ms")
    assay("run", "--endpoint", source.url, "--model", "m", "--concurrency", 4, "--samples", 200,
          "--report-dir", tmp_path / "runs/r1", "--quiet", "--allow-client-limited")
    event, ended = None, False
    while not ended:
        line = stream.readline().decode().strip()
        if line.startswith("event: "):
            event = line[7:]
        elif line.startswith("data: ") and event == "run":
            told = json.loads(line[6:])
            ended = told["ended"]
    assert told["completed"] == 200 and told["folder"] == "r1"
    connection.close()
    point = server.get("curves")["items"][0]["points"][0]
    run = server.get(f"runs/{point['id']}")
    assert run["has_events"] and run["counts"]["completed"] == 200
    events = server.get(f"runs/{point['id']}/events?detail=tokens&limit=50000")
    assert events["total"] == 200 and events["lanes"] == 4
    assert events["fragments_total"] == 4000 == len(events["fragments"]["at_ms"])
    few = server.get(f"runs/{point['id']}/events?from_lane=1&to_lane=2&limit=10")
    assert set(few["streams"]["lane"]) == {1} and len(few["streams"]["query"]) <= 10


def test_a_finished_run_is_put_where_the_run_is_told(assay, endpoint, tmp_path):
    source = endpoint("--osl", 5)
    assay("run", "--endpoint", source.url, "--model", "m", "--concurrency", 2, "--samples", 20,
          "--report-dir", tmp_path / "r", "--quiet", "--allow-client-limited", "--store",
          tmp_path / "s.db")
    again = assay("import", tmp_path / "r", "--store", tmp_path / "s.db", "--json").json()
    assert again["points_new"] == 0 and again["points_changed"] == 0
