"""The realtime API against real WebSockets: the clients of `websockets` and of `openai` on `assay
endpoint`, and `assay run` on a server of `websockets` that speaks OpenAI's events."""

import base64
import json
import threading

import openai
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect
from websockets.sync.server import serve

TOKENS = 12
TOKEN_BYTES = 1152
TURN = [{"type": "session.update", "session": {"type": "realtime", "output_modalities": ["text"]}},
        {"type": "conversation.item.create", "item": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}},
        {"type": "response.create", "event_id": "turn-1"}]


def address(server):
    return server.url.replace("http://", "ws://") + "/v1/realtime?model=m"


def events_until(socket, last):
    """The events up to the one of this type."""
    out = []
    while not out or out[-1]["type"] != last:
        out.append(json.loads(socket.recv(timeout=20)))
    return out


def deltas(events, name):
    return [event["delta"] for event in events if event["type"] == f"response.{name}.delta"]


@pytest.mark.parametrize("quirk", ["spaced-json", "ragged-chunks", "pings", "split-event"])
def test_websockets_hears_turns_of_the_endpoint(endpoint, quirk):
    server = endpoint("--osl", TOKENS, "--quirk", quirk)
    with connect(address(server)) as socket:
        assert json.loads(socket.recv(timeout=20))["type"] == "session.created"
        assert socket.protocol.extensions == []  # offered by the client, and not agreed on
        for turn in range(2):  # the connection is kept for the conversation's turns
            for event in TURN:
                socket.send(json.dumps(event))
            heard = events_until(socket, "response.done")
            assert len(deltas(heard, "output_text")) == TOKENS, turn
            ended = heard[-1]["response"]
            assert ended["status"] == "completed"
            assert ended["usage"]["output_tokens"] == TOKENS
        assert socket.ping().wait(20)
        # A message in fragments, with multi-byte characters cut anywhere.
        socket.send([json.dumps(TURN[1])[:40], json.dumps(TURN[1])[40:]])
        assert json.loads(socket.recv(timeout=20))["type"] == "conversation.item.added"
        events_until(socket, "conversation.item.done")
        socket.send("no json")
        error = json.loads(socket.recv(timeout=20))
        assert (error["type"], error["error"]["code"]) == ("error", "invalid_json")
        socket.send(b"binary")
        with pytest.raises(ConnectionClosedError) as closed:
            socket.recv(timeout=20)
        assert closed.value.rcvd.code == 1003


def test_websockets_speaks_and_hears_sound(endpoint):
    server = endpoint("--osl", TOKENS)
    with connect(address(server)) as socket:
        events_until(socket, "session.created")
        socket.send(json.dumps({"type": "input_audio_buffer.commit"}))
        refused = events_until(socket, "error")[-1]["error"]
        assert refused["code"] == "input_audio_buffer_commit_empty"
        sound = base64.b64encode(bytes(9_600)).decode()
        socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": sound}))
        socket.send(json.dumps({"type": "input_audio_buffer.commit"}))
        socket.send(json.dumps({"type": "response.create"}))
        heard = events_until(socket, "response.done")
        assert len(deltas(heard, "output_audio_transcript")) == TOKENS
        pieces = [base64.b64decode(piece) for piece in deltas(heard, "output_audio")]
        assert sum(map(len, pieces)) == TOKENS * TOKEN_BYTES


def test_a_handshake_that_is_none_is_refused(endpoint):
    server = endpoint("--api-key", "right")
    with pytest.raises(InvalidStatus) as refused, connect(address(server)):
        pass
    assert refused.value.response.status_code == 401
    headers = {"Authorization": "Bearer right"}
    with connect(address(server), additional_headers=headers) as socket:
        assert json.loads(socket.recv(timeout=20))["type"] == "session.created"


@pytest.mark.parametrize("modality", ["text", "audio"])
def test_openais_client_takes_every_event(endpoint, modality):
    server = endpoint("--osl", TOKENS)
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="any", max_retries=0,
                           websocket_base_url=server.url.replace("http://", "ws://") + "/v1")
    with client.realtime.connect(model="m") as connection:
        connection.session.update(session={"type": "realtime", "output_modalities": [modality]})
        connection.conversation.item.create(item={
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]})
        connection.response.create()
        seen = []
        for event in connection:
            seen.append(event)
            assert type(event).__name__ != "BaseModel", event
            if event.type == "response.done":
                break
    name = "output_text" if modality == "text" else "output_audio_transcript"
    assert sum(event.type == f"response.{name}.delta" for event in seen) == TOKENS
    assert seen[-1].response.status == "completed"
    assert seen[-1].response.usage.output_tokens == TOKENS


class Realtime:
    """OpenAI's side of a session, with what a real server does to a client: fragments, pings, and
    events that are none of the response."""

    def __init__(self):
        self.asked = []
        self.sounds = []
        self.fault = None
        self.sessions = []  # of each connection, what it was asked

    def __call__(self, socket):
        self.sessions.append([])
        session = self.sessions[-1]
        say = lambda type_, **members: socket.send(json.dumps({"type": type_, **members}))
        say("session.created", session={})
        heard = 0
        for message in socket:
            assert isinstance(message, str)
            event = json.loads(message)
            self.asked.append(event["type"])
            session.append(event["type"] if event["type"] != "conversation.item.create" else
                           event["item"]["content"][0]["text"])
            if event["type"] == "session.update":
                assert event["session"]["audio"]["input"]["turn_detection"] is None
                say("session.updated", session=event["session"])
            elif event["type"] == "input_audio_buffer.append":
                heard += len(base64.b64decode(event["audio"], validate=True))
            elif event["type"] == "input_audio_buffer.commit":
                self.sounds.append(heard)
                say("input_audio_buffer.committed", item_id="i")
            elif event["type"] == "conversation.item.create":
                say("conversation.item.added", item=event["item"])
            elif event["type"] == "response.create":
                self.answer(socket, say)
                if self.fault == "hang up":
                    return

    def answer(self, socket, say):
        say("response.created", response={"status": "in_progress"})
        socket.ping()
        for token in range(TOKENS):
            delta = json.dumps({"type": "response.output_audio_transcript.delta",
                                "delta": f"wörd{token} "}, ensure_ascii=False)
            # In three fragments, and some say a beta's name.
            socket.send([delta[:20], delta[20:50], delta[50:]])
            say("response.audio.delta" if token % 2 else "response.output_audio.delta",
                delta=base64.b64encode(bytes(TOKEN_BYTES)).decode())
            if self.fault == "close" and token == 5:
                return socket.close(1011, "overloaded")
        say("rate_limits.updated", rate_limits=[])
        say("response.done", response={
            "status": "completed", "output": [],
            "usage": {"input_tokens": 5, "output_tokens": TOKENS,
                      "total_tokens": 5 + TOKENS, "input_token_details": {"cached_tokens": 2}}})


@pytest.fixture
def realtime():
    side = Realtime()
    # Its default: it would compress, if a client offered it.
    with serve(side, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        side.url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        yield side
        server.shutdown()
    thread.join()


def measure(assay, tmp_path, url, *flags, code=0):
    return json.loads(assay(
        "run", "--endpoint", url, "--model", "m", "--api-type", "realtime", "--samples", 6,
        "--concurrency", 2, "--report-dir", tmp_path / "run", "--quiet", "--json",
        "--no-preflight", "--allow-client-limited", *flags, code=code).out)


def test_a_server_of_websockets_is_measured(assay, tmp_path, realtime):
    summary = measure(assay, tmp_path, realtime.url, "--isl", 20)
    assert summary["n_samples_completed"] == 6
    assert summary["output_sequence_lengths"]["total"] == 6 * TOKENS
    audio = summary["assay"]["audio"]
    assert audio["bytes"] == 6 * TOKENS * TOKEN_BYTES
    assert audio["first"]["min"] >= summary["ttft"]["min"]
    assert realtime.asked.count("response.create") == 6


def test_a_server_of_websockets_hears_the_sound(assay, tmp_path, realtime):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"audio": "a.pcm"}\n')
    (tmp_path / "a.pcm").write_bytes(bytes(7_000))
    measure(assay, tmp_path, realtime.url, "--dataset", rows, "--no-salt")
    assert realtime.sounds == [7_000] * 6


def test_a_server_of_websockets_that_closes_is_quoted(assay, tmp_path, realtime):
    realtime.fault = "close"
    summary = measure(assay, tmp_path, realtime.url, "--isl", 20, code=7)
    failure, = summary["assay"]["failures"]
    assert (failure["outcome"], failure["count"]) == ("truncated", 6)
    assert "code 1011: overloaded" in json.dumps(failure)


CALL = {"session": "conversation", "output_modalities": ["text"], "pace": "at_once"}


def conversations(folder, count=2):
    """Each of three turns, the second of which is spoken."""
    (folder / "a.pcm").write_bytes(bytes(4_800))
    rows = []
    for number in range(count):
        turns = [("user", "first"), ("assistant", "recorded one"), ("user", "second"),
                 ("assistant", "recorded two"), ("user", "third")]
        for i, (role, text) in enumerate(turns):
            rows.append({"conversation_id": f"c{number}", "turn": i + 1, "role": role,
                         "content": text, **({"audio": "a.pcm"} if text == "second" else {})})
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = folder / "run.yaml"
    config.write_text(json.dumps({
        "type": "online", "datasets": [{"name": "calls", "path": str(path), "type": "performance",
                                        "agentic_inference": {}}],
        "settings": {"load_pattern": {"type": "agentic_inference", "target_concurrency": 2}}}))
    return config


def replay(assay, tmp_path, url, extra, code=0):
    config = conversations(tmp_path)
    return json.loads(assay(
        "run", "-c", config, "--endpoint", url, "--model", "m", "--api-type", "realtime",
        "--extra-body", json.dumps(extra), "--report-dir", tmp_path / "run", "--quiet", "--json",
        "--no-preflight", "--allow-client-limited", code=code).out)


def answered(summary):
    """The turns of all conversations: one that was still talking when the other had ended is not
    in the summary's own figures, which are those under the whole load."""
    nodes = summary["trajectories"]["nodes"]
    return nodes["succeeded"], nodes["failed"]


def test_the_turns_of_a_call_share_a_session(assay, tmp_path, realtime):
    summary = replay(assay, tmp_path, realtime.url, CALL)
    assert answered(summary) == (6, 0)
    heard = [session for session in realtime.sessions if session]
    assert heard == 2 * [["session.update", "first", "response.create",
                          "input_audio_buffer.append", "input_audio_buffer.commit",
                          "response.create", "third", "response.create"]]
    assert realtime.sounds == [4_800, 4_800]


def test_a_call_whose_session_ends_goes_on_in_another(assay, tmp_path, realtime):
    realtime.fault = "hang up"
    summary = replay(assay, tmp_path, realtime.url, CALL)
    assert answered(summary) == (6, 0)
    last = [session for session in realtime.sessions if "third" in session]
    assert len([session for session in realtime.sessions if session]) == 6
    # The recorded history, the transcript of what was spoken in it.
    assert last == 2 * [["session.update", "first", "recorded one", "second", "recorded two",
                         "third", "response.create"]]


def test_by_itself_each_turn_has_a_session(assay, tmp_path, realtime):
    own = {key: value for key, value in CALL.items() if key != "session"}
    replay(assay, tmp_path, realtime.url, own)
    assert len([session for session in realtime.sessions if session]) == 6
