"""`assay hub` and `assay site`: evaluation where the data live. A hub and three sites, each site in
a network namespace of its own whose only ways out are two Unix sockets: to its private endpoint,
and to a proxy that records every byte to and from the hub."""

import base64
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import signal
import socket
import socketserver
import subprocess
import threading
import urllib.parse

import pytest
from conftest import TIMEOUT_S, program

SAMPLES = 40
WRONG = 10  # of them
# How a site prepares its data: each subject's rows are taken over, agreed to, and joined.
PREPARE = """
steps:
  - id: CANARYSTEP-take
    type: process
    command: [cp, "{{raw}}/{{partition}}/rows", "{{work}}/{{partition}}"]
    outputs: ["{{work}}/{{partition}}"]
    partition: true
    next: agree
  - {{id: agree, type: manual_approval, next: join}}
  - {{id: join, type: process, command: [sh, -c, "cat {{work}}/* > {file}"]}}
inputs: {{raw: raw}}
partition_def: {{type: folders, path: "{{raw}}/*"}}
"""
SUBJECTS = 5
MEASUREMENT = {"concurrency": [1, 4], "samples": SAMPLES, "max_output_tokens": 16,
               "scorer": "string_match", "fields": ["accuracy", "completed", "ttft_ms_p50", "qps"]}


class Hub:
    """A running `assay hub serve`."""

    def __init__(self, store, env=None, may_end=False, flags=()):
        self.store = store
        self.process = subprocess.Popen(
            [program(), "hub", "serve", "--store", store, "--port", "0", "--json", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        assert line or may_end, self.process.stderr.read()
        self.url = json.loads(line)["url"] if line else None
        self.host = urllib.parse.urlsplit(self.url).netloc if line else None

    def ask(self, method, path, token, body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=30)
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection.request(method, path, body, sent)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, text

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait(TIMEOUT_S)
        self.process.stdout.close()
        self.process.stderr.close()


class Proxy:
    """A Unix socket before the hub; `seen` has all bytes of both directions."""

    def __init__(self, path, hub_url):
        self.seen = bytearray()
        place = urllib.parse.urlsplit(hub_url)
        proxy = self

        class Pipe(socketserver.BaseRequestHandler):
            def handle(self):
                with socket.create_connection((place.hostname, place.port)) as hub:
                    back = threading.Thread(target=proxy.copy, args=(hub, self.request))
                    back.start()
                    proxy.copy(self.request, hub)
                    back.join()

        self.server = socketserver.ThreadingUnixStreamServer(str(path), Pipe)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def copy(self, source, target):
        while piece := source.recv(65536):
            self.seen += piece
            target.sendall(piece)
        # The hub takes a closed half for a peer that left, so the client's end is not passed on.
        if target.family == socket.AF_UNIX:
            target.shutdown(socket.SHUT_WR)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class PrivateEndpoint:
    """Answers a chat with the prompt's label, or with a canary of its own."""

    def __init__(self, path, site):
        class Chat(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                number = asked["messages"][-1]["content"].rsplit("-", 1)[-1]
                right = number.isdigit() and int(number) >= WRONG
                text = f"CANARYLABEL-{site}-{number}" if right else f"CANARYREPLY-{site}"
                chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m",
                         "choices": [{"index": 0, "delta": {"content": text}}]}
                end = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                       "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}
                if not asked.get("stream"):
                    body = json.dumps({**end, "object": "chat.completion", "choices": [
                        {"index": 0, "message": {"role": "assistant", "content": text},
                         "finish_reason": "stop"}]}).encode()
                    kind = "application/json"
                else:
                    body = "".join(f"data: {part}\n\n" for part in
                                   (json.dumps(chunk), json.dumps(end), "[DONE]")).encode()
                    kind = "text/event-stream"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

            def address_string(self):
                return "site"

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

        self.server = Server(str(path), Chat)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def has_namespaces():
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0


class Site:
    def __init__(self, name, folder, hub_url, token, endpoint, **changes):
        self.name, self.folder, self.fenced = name, folder, has_namespaces()
        folder.mkdir(exist_ok=True)
        self.file = folder / f"CANARYFILE-{name}.jsonl"
        self.rows = [
            json.dumps({"prompt": f"CANARYPROMPT-{name}-{i}", "answer": f"CANARYLABEL-{name}-{i}"})
            + "\n" for i in range(SAMPLES)]
        self.file.write_text("".join(self.rows))
        subprocess.run([program(), "key", folder / "site.key"], check=True, capture_output=True)
        (folder / "token").write_text(token + "\n")
        self.write_policy(hub_url, endpoint, **changes)

    def prepare(self, assay):
        """The dataset's file is made by a pipeline; the agent reports how far it is, each time."""
        self.file.unlink()
        for i in range(SUBJECTS):
            subject = self.folder / "raw" / f"CANARYSUBJECT-{i}"
            subject.mkdir(parents=True)
            (subject / "rows").write_text("".join(self.rows[i::SUBJECTS]))
        pipeline = self.folder / "prepare.yaml"
        pipeline.write_text(PREPARE.format(file=self.file.name))
        policy = self.folder / "site.yaml"
        policy.write_text(policy.read_text().replace(
            "    ground_truth:", "    preparation: prepare.work\n    ground_truth:"))
        assay("pipeline", "run", pipeline, "--no-wait")
        self("agent", "--once")
        assay("pipeline", "approve", pipeline, "agree", "--by", "CANARYPERSON")
        assay("pipeline", "run", pipeline)
        self("agent", "--once")
        assert sorted(self.file.read_text().splitlines(True)) == sorted(self.rows)

    def write_policy(self, hub_url, endpoint, levels=8):
        (self.folder / "site.yaml").write_text(f"""
hub: {hub_url}
token_file: token
store: site.db
folder: runs
key: site.key
datasets:
  data-{self.name}:
    file: {self.file.name}
    description: forty questions of {self.name}
    ground_truth: answer
    extractor: identity_extractor
models:
  our-model:
    endpoint: {endpoint}
    name: CANARYMODEL-{self.name}
    api_key_env: CANARY_KEY
orders:
  benchmarks: [triage]
  concurrency_max: {levels}
  samples_max: 100
  output_tokens_max: 64
  scorers: [string_match]
release:
  fields: [accuracy, completed, qps]
  k_minimum: 5
  digits: 2
""")

    def __call__(self, *args, code=0, env=None):
        fence = ["unshare", "-rn"] if self.fenced else []
        done = subprocess.run(
            [*fence, program(), "site", *args, "--policy", self.folder / "site.yaml"],
            capture_output=True, text=True, timeout=TIMEOUT_S,
            env={**os.environ, "CANARY_KEY": f"CANARYKEY-{self.name}", **(env or {})})
        assert code is None or done.returncode == code, f"{args}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture
def parties(assay, tmp_path):
    """hub, and a function that acts as an owner: act("committee", "order", "run-1", ...)."""
    hub = Hub(str(tmp_path / "hub.db"))
    for owner, role in (("committee", "benchmark_owner"), ("vendor", "model_owner")):
        token = assay("hub", "token", "--store", hub.store, "--role", role, "--organisation", owner)
        (tmp_path / owner).write_text(token.out)

    def act(owner, *args, code=0):
        return assay("hub", *args, "--hub", hub.url, "--token-file", tmp_path / owner, code=code)

    def site_token(name):
        token = assay("hub", "token", "--store", hub.store, "--role", "data_owner",
                      "--organisation", name).out.strip()
        (tmp_path / name).write_text(token)
        return token

    measurement = tmp_path / "measurement.json"
    measurement.write_text(json.dumps(MEASUREMENT))
    act("committee", "add_benchmark", "triage", "--measurement", measurement)
    act("vendor", "add_model", "our-model", "--description", "<img src=x onerror=alert(1)>")
    act("committee", "associate", "--benchmark", "triage", "--model", "our-model")
    act("vendor", "approve", "--benchmark", "triage", "--model", "our-model")
    yield hub, act, site_token
    hub.stop()


def join(site, act):
    """The site's dataset is registered, and both sides approve."""
    site("register", f"data-{site.name}", "--send")
    pair = ("--benchmark", "triage", "--dataset", f"data-{site.name}")
    act(site.name, "associate", *pair)
    act(site.name, "approve", *pair, code=3)  # not by the one that asked
    act("committee", "approve", *pair)


def order(act, run, name):
    act("committee", "order", run, "--benchmark", "triage", "--dataset", f"data-{name}", "--model",
        "our-model")


def runs_at_hub(act, owner="committee"):
    return {run["id"]: run for run in act(owner, "show", "--json").json()["runs"]}


def test_three_sites_prepare_and_release_what_was_shown_and_nothing_else_leaves(parties, assay,
                                                                                tmp_path):
    hub, act, site_token = parties
    sites, proxies, endpoints = [], [], []
    try:
        for name in ("north", "south", "west"):
            folder = tmp_path / f"site-{name}"
            folder.mkdir()
            proxies.append(Proxy(folder / "hub.sock", hub.url))
            endpoints.append(PrivateEndpoint(folder / "CANARYPATH.sock", name))
            sites.append(Site(name, folder, f"http+unix://{folder}/hub.sock", site_token(name),
                              f"http+unix://{folder}/CANARYPATH.sock"))
            sites[-1].prepare(assay)
            join(sites[-1], act)
            order(act, f"run-{name}", name)
        prepared = act("committee", "show", "--json").json()["preparations"]
        assert [[(step["done"], step["total"]) for step in one["steps"]] for one in prepared] == [
            [(SUBJECTS, SUBJECTS), (1, 1), (1, 1)]] * 3
        for site in sites:
            run = f"run-{site.name}"
            site("agent", "--once")
            held = runs_at_hub(act)[run]
            assert held["state"] == "held" and "document" not in held
            shown = site("review", run)
            document = json.loads(shown.stdout)
            assert [level["concurrency"] for level in document["levels"]] == [1, 4]
            for level in document["levels"]:
                assert level["figures"]["accuracy"] == (SAMPLES - WRONG) / SAMPLES
                assert set(level["figures"]) == {"accuracy", "completed", "qps"}
            assert "ttft_ms_p50: the policy does not list it" in shown.stderr
            digest = hashlib.sha256(shown.stdout.encode()).hexdigest()
            assert digest in shown.stderr
            site("release", run, "--sha256", "0" * 64, code=2)
            assert site("review", run).stdout == shown.stdout
            # A policy that changes behind the review changes nothing of what was shown.
            site("release", run, "--sha256", digest)
            assert runs_at_hub(act)[run]["state"] == "held"
            site("agent", "--once")
            released = runs_at_hub(act)[run]
            assert released["state"] == "released"
            assert released["document"] == shown.stdout
        # The other sites' runs are none of a site's business.
        assert set(runs_at_hub(act, "north")) == {"run-north"}
        everything = pathlib.Path(hub.store).read_bytes()
        for site, proxy in zip(sites, proxies):
            for act_kind in (b'"prepare"', b'"add_dataset"', b'"release"'):
                assert act_kind in proxy.seen
            written = b"".join(file.read_bytes() for file in site.folder.rglob("*.alog"))
            assert site.file.read_text().count("CANARY") == 2 * SAMPLES and written
            for secret in (b"CANARY", b"canary", base64.b64encode(b"CANARY")[:7],
                           str(tmp_path).encode()):
                assert secret not in proxy.seen, secret
                assert secret not in everything, secret
    finally:
        for one in proxies + endpoints:
            one.stop()


def test_an_agent_takes_no_order_that_its_policy_does_not_allow(parties, endpoint, tmp_path):
    hub, act, site_token = parties
    site = Site("north", tmp_path / "site", hub.url, site_token("north"), endpoint("--osl", 4).url)
    site.fenced = False
    join(site, act)
    for levels in (3, 8):
        site.write_policy(hub.url, endpoint("--osl", 4).url, levels=levels)
        order(act, f"run-{levels}", "north")
        # Nor any while the model's key is not there, where the run could only fail.
        said = site("agent", "--once", env={"CANARY_KEY": ""}, code=2).stderr
        assert "CANARY_KEY is not set" in said
        assert runs_at_hub(act)[f"run-{levels}"]["state"] == "ordered"
        said = site("agent", "--once").stderr
        assert ("concurrency 4 is above 3" in said) == (levels == 3)
    runs = runs_at_hub(act)
    assert runs["run-3"]["state"] == "refused" and runs["run-3"]["reason"] == "policy"
    assert runs["run-8"]["state"] == "held"
    assert not (site.folder / "runs" / "run-3").exists()
    site("withhold", "run-8")
    site("agent", "--once")
    assert runs_at_hub(act)["run-8"]["state"] == "withheld"
    site("review", "run-8", code=3)
    # Data that were changed behind the registration are not measured.
    order(act, "run-9", "north")
    site.file.write_text(site.file.read_text() + "{}\n")
    site("agent", "--once")
    assert runs_at_hub(act)["run-9"]["reason"] == "data"
    # A revoked approval stops an order that was given before.
    order(act, "run-10", "north")
    act("vendor", "reject", "--benchmark", "triage", "--model", "our-model")
    assert "is not approved" in site("agent", "--once").stderr
    assert runs_at_hub(act)["run-10"]["state"] == "ordered"
    verify = subprocess.run([program(), "hub", "verify", "--store", hub.store], capture_output=True)
    assert verify.returncode == 0


def test_a_misspelled_limit_is_an_error_and_not_an_absent_limit(tmp_path):
    site = Site("north", tmp_path / "site", "http://127.0.0.1:1", "t", "http://127.0.0.1:1")
    policy = (site.folder / "site.yaml").read_text()
    (site.folder / "site.yaml").write_text(policy.replace("k_minimum", "k_minimun"))
    assert 'unknown key "k_minimun"' in site("list", code=2).stderr
    (site.folder / "site.yaml").write_text(policy.replace("  k_minimum: 5\n", ""))
    assert "needs k_minimum" in site("list", code=2).stderr


def test_the_hub_refuses_strangers_and_what_is_too_large(parties):
    hub, _, site_token = parties
    token = site_token("north")
    act = json.dumps({"kind": "take", "key": "k", "id": "r"})
    assert hub.ask("GET", "/api/v1/federation", token)[0] == 200
    assert hub.ask("GET", "/api/v1/federation", "wrong")[0] == 401
    assert hub.ask("POST", "/api/v1/acts", token, act)[0] == 404
    assert hub.ask("POST", "/api/v1/acts", token, act, Origin="http://evil.example")[0] == 403
    assert hub.ask("POST", "/api/v1/acts", token, act, Sec_Fetch_Site="cross-site")[0] == 403
    assert hub.ask("POST", "/api/v1/acts", token, act, Content_Type="text/plain")[0] == 415
    assert hub.ask("POST", "/api/v1/acts", token, " " * 70_000)[0] == 413
    for path in ("/../hub.db", "/api/v1/%2e%2e/hub.db", "/api/v1/acts/../federation"):
        assert hub.ask("GET", path, token)[0] in (404, 405), path
    status, text = hub.ask("GET", "/api/v1/federation", token)
    assert json.loads(text)["models"][0]["description"] == "<img src=x onerror=alert(1)>"


def test_a_sites_page_is_for_this_machine_its_token_and_its_own_origin(tmp_path):
    site = Site("north", tmp_path / "site", "http://127.0.0.1:1", "t", "http://127.0.0.1:1")
    process = subprocess.Popen(
        [program(), "site", "serve", "--port", "0", "--json", "--policy",
         site.folder / "site.yaml"],
        stdout=subprocess.PIPE, text=True)
    try:
        place = urllib.parse.urlsplit(json.loads(process.stdout.readline())["url"])
        token = urllib.parse.parse_qs(place.query)["token"][0]
        act = json.dumps({"run": "../../etc/passwd", "sha256": "0" * 64})

        def ask(method, path, body=None, **headers):
            connection = http.client.HTTPConnection(place.netloc, timeout=30)
            sent = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            sent.update({name.replace("_", "-"): value for name, value in headers.items()})
            connection.request(method, path, body, sent)
            reply = connection.getresponse()
            text = reply.read().decode()
            connection.close()
            return reply.status, text

        assert json.loads(ask("GET", "/api/v1/site")[1])["runs"] == []
        assert ask("GET", "/api/v1/site", Authorization="")[0] == 401
        assert ask("GET", "/api/v1/site", Authorization="Bearer " + "0" * 32)[0] == 401
        assert ask("GET", "/?token=wrong", Authorization="")[0] == 401
        assert ask("GET", f"/?token={token}", Authorization="")[0] == 303
        assert ask("GET", "/api/v1/site", Host="evil.example")[0] == 403
        assert ask("GET", f"/?token={token}", Host="evil.example")[0] == 403
        for what in ("review", "release", "withhold"):
            path = f"/api/v1/site/{what}"
            assert ask("POST", path, act)[0] == 404
            assert ask("POST", path, act, Authorization="")[0] == 401
            assert ask("POST", path, act, Origin="http://evil.example")[0] == 403
            assert ask("POST", path, act, Sec_Fetch_Site="cross-site")[0] == 403
            assert ask("POST", path, act, Content_Type="text/plain")[0] == 403
            assert ask("POST", path, "x" * 20_000)[0] == 413
            assert ask("POST", path, "{")[0] == 400
            assert ask("GET", path)[0] == 405
        for path in ("/../site.key", "/site.key", "/%2e%2e/site.key", "/api/v1/site/../site.db"):
            assert ask("GET", path)[0] == 404, path
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(TIMEOUT_S)
        process.stdout.close()


def test_a_review_board_in_the_same_store_does_not_reach_the_federation(parties, assay):
    hub, act, _ = parties
    chair = ("--role", "chair", "--store", hub.store)
    assay("review", "submit", "s1", *chair, "--organisation", "We")
    told = assay("review", "list", "--store", hub.store, "--json").json()
    assert [one["id"] for one in told["items"]] == ["s1"]
    for what in (("comment", "--text", "x"), ("check_passed",)):
        assay("review", what[0], "the federation", *what[1:], *chair, code=2)
    assay("review", "verify", "--store", hub.store)
    act("vendor", "add_model", "another")
    assert assay("hub", "verify", "--store", hub.store, "--json").json()["entries"] == 5


@pytest.fixture(scope="session")
def kill_call(tmp_path_factory):
    shim = tmp_path_factory.mktemp("shim") / "kill_call.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim,
                    pathlib.Path(__file__).with_name("kill_call.c"), "-ldl"], check=True)

    def env(place):
        call, after = place
        return {"LD_PRELOAD": str(shim), "KILL_CALL": str(call),
                **({"KILL_AFTER": "1"} if after else {})}
    return env


# Calls, and whether the kill comes behind them. ASSAY_KILLS: how many such places, from the first.
KILLS = int(os.environ.get("ASSAY_KILLS", "0"))
CALLS = ([(1 + i // 2, i % 2) for i in range(KILLS)] if KILLS
         else [(call, call % 2) for call in (1, 2, 3, 5, 8, 12, 15, 18, 22, 26, 31)])


def test_an_agent_killed_at_any_call_loses_and_doubles_nothing(parties, endpoint, kill_call,
                                                               tmp_path):
    hub, act, site_token = parties
    site = Site("north", tmp_path / "site", hub.url, site_token("north"), endpoint("--osl", 4).url)
    site.fenced = False
    join(site, act)
    killed = 0
    for number, call in enumerate(CALLS):
        run = f"run-{number}"
        order(act, run, "north")
        killed += site("agent", "--once", env=kill_call(call), code=None).returncode == -9
        site("agent", "--once")
        assert runs_at_hub(act)[run]["state"] == "held"
        shown = site("review", run).stdout
        site("release", run, "--sha256", hashlib.sha256(shown.encode()).hexdigest())
        killed += site("agent", "--once", env=kill_call(call), code=None).returncode == -9
        site("agent", "--once")
        at_hub = runs_at_hub(act)[run]
        assert at_hub["state"] == "released" and at_hub["document"] == shown
    # A turn with a measurement has some forty calls, one with a release fewer.
    assert killed > len(CALLS) if not KILLS else killed >= KILLS // 2
    verified = subprocess.run([program(), "hub", "verify", "--store", hub.store, "--json"],
                              capture_output=True, check=True)
    entries = json.loads(verified.stdout)["entries"]
    # 4 acts of the parties, 3 of the site, and for each run: order, take, hold, review, release.
    assert entries == 7 + 5 * len(CALLS)


def test_a_hub_killed_at_any_call_has_an_act_whole_or_not_and_once(assay, kill_call, tmp_path):
    store = str(tmp_path / "hub.db")
    token = assay("hub", "token", "--store", store, "--role", "model_owner", "--organisation",
                  "vendor").out
    (tmp_path / "vendor").write_text(token)
    killed = 0
    for number, call in enumerate(CALLS):
        add = ("hub", "add_model", f"model-{number}", "--key", f"key-{number}", "--token-file",
               tmp_path / "vendor")
        hub = Hub(store, env={**os.environ, **kill_call(call)}, may_end=True)
        if hub.url:
            assay(*add, "--hub", hub.url, code=None)
            assay(*add, "--hub", hub.url, code=None)
        hub.stop()
        killed += hub.process.returncode == -9
        hub = Hub(store)
        assay(*add, "--hub", hub.url)
        assay(*add, "--hub", hub.url)
        hub.stop()
    assert killed >= 3
    verified = assay("hub", "verify", "--store", store, "--json").json()
    assert verified["entries"] == len(CALLS)
