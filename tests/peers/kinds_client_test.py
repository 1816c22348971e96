"""OpenAI's and Anthropic's own Python clients against the kinds of API that `assay endpoint` speaks
beside chat: their types must accept every event and every reply."""

import base64
import io
import json
import struct
import wave

import anthropic
import numpy
import openai
import pytest
import tritonclient.http
from tritonclient.utils import InferenceServerException

TOKENS = 12
QUESTION = [{"role": "user", "content": "What is a token?"}]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}


@pytest.fixture
def responses(endpoint):
    """responses(flags of the endpoint...) -> the Responses of an OpenAI client that talks to it."""

    def connect(*flags, key="any"):
        url = endpoint("--osl", TOKENS, *flags).url
        return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0,
                             timeout=30).responses

    return connect


@pytest.fixture
def messages(endpoint):
    """messages(flags of the endpoint...) -> the Messages of an Anthropic client."""

    def connect(*flags, key="any"):
        url = endpoint("--osl", TOKENS, *flags).url
        return anthropic.Anthropic(base_url=url, api_key=key, max_retries=0, timeout=30).messages

    return connect


def test_a_whole_response_has_text_and_counts(responses):
    reply = responses().create(model="m", input="What is a token?")
    assert (reply.status, reply.model) == ("completed", "m")
    assert reply.output_text.strip()
    assert reply.usage.output_tokens == TOKENS
    assert reply.usage.total_tokens == reply.usage.input_tokens + TOKENS


def test_a_response_that_the_limit_cut_is_incomplete(responses):
    reply = responses().create(model="m", input="Hi", max_output_tokens=5)
    assert reply.status == "incomplete"
    assert reply.incomplete_details.reason == "max_output_tokens"
    assert reply.usage.output_tokens == 5


def test_a_streamed_response_says_what_the_whole_one_says(responses):
    api = responses("--reasoning", 0.5, "--seed", 7)
    with api.stream(model="m", input=QUESTION) as stream:
        events = list(stream)
        whole = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds.count("response.reasoning_text.delta") == TOKENS // 2
    assert kinds.count("response.output_text.delta") == TOKENS // 2
    assert kinds[-1] == "response.completed"
    said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert said == whole.output_text
    assert [item.type for item in whole.output] == ["reasoning", "message"]
    assert whole.usage.output_tokens_details.reasoning_tokens == TOKENS // 2


def test_a_response_calls_the_tool_with_arguments_that_fit(responses):
    tool = {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}
    with responses().stream(model="m", input=QUESTION, tools=[tool]) as stream:
        list(stream)
        whole = stream.get_final_response()
    (call,) = whole.output
    assert (call.type, call.name, call.status) == ("function_call", "weather", "completed")
    assert call.arguments.startswith('{"city":')
    answered = [*QUESTION, call.model_dump(include={"type", "call_id", "name", "arguments"}),
                {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}]
    assert responses().create(model="m", input=answered, tools=[tool]).output_text


def test_the_clients_see_a_wrong_key_and_an_error_inside_a_stream(responses, messages):
    with pytest.raises(openai.AuthenticationError):
        responses("--api-key", "right", key="wrong").create(model="m", input="Hi")
    with pytest.raises(anthropic.AuthenticationError):
        messages("--api-key", "right", key="wrong").create(model="m", max_tokens=5,
                                                           messages=QUESTION)
    stream = responses("--quirk", "error-in-stream").create(model="m", input="Hi", stream=True)
    assert [event.type for event in stream][-1] == "error"
    with pytest.raises(anthropic.APIStatusError, match="aborted"):
        list(messages("--quirk", "error-in-stream").create(model="m", max_tokens=TOKENS,
                                                           messages=QUESTION, stream=True))


def test_a_whole_message_has_blocks_and_counts(messages):
    reply = messages("--reasoning", 0.5).create(model="m", max_tokens=TOKENS, messages=QUESTION,
                                                system="Be brief.")
    assert [block.type for block in reply.content] == ["thinking", "text"]
    assert (reply.stop_reason, reply.usage.output_tokens) == ("end_turn", TOKENS)
    assert reply.usage.input_tokens > 0
    cut = messages().create(model="m", max_tokens=5, messages=QUESTION)
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 5)


@pytest.mark.parametrize("quirk", [[], ["--quirk", "pings"], ["--quirk", "comments"]])
def test_a_streamed_message_adds_up(messages, quirk):
    with messages("--reasoning", 0.5, *quirk).stream(model="m", max_tokens=TOKENS,
                                                     messages=QUESTION) as stream:
        events = list(stream)
        whole = stream.get_final_message()
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert sum(event.type == "text" for event in events) == TOKENS // 2
    assert sum(event.type == "thinking" for event in events) == TOKENS // 2
    assert whole.usage.output_tokens == TOKENS
    assert "".join(e.text for e in events if e.type == "text") == whole.content[1].text


def test_a_message_uses_the_tool_with_input_that_fits(messages):
    tool = {"name": "weather", "input_schema": SCHEMA}
    with messages().stream(model="m", max_tokens=64, messages=QUESTION, tools=[tool],
                                      tool_choice={"type": "any"}) as stream:
        whole = stream.get_final_message()
    (use,) = whole.content
    assert (use.type, use.name, whole.stop_reason) == ("tool_use", "weather", "tool_use")
    assert set(use.input) == {"city", "days"}


def test_embeddings_come_as_numbers_and_as_base64_and_are_the_same(endpoint):
    url = endpoint().url
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=30)
    plain = client.embeddings.create(model="m", input=["a", "b"], dimensions=8,
                                     encoding_format="float")
    assert [item.index for item in plain.data] == [0, 1]
    assert [len(item.embedding) for item in plain.data] == [8, 8]
    assert abs(sum(x * x for x in plain.data[0].embedding) - 1) < 1e-5
    coded = client.embeddings.create(model="m", input="b", dimensions=8, encoding_format="base64")
    raw = base64.b64decode(coded.data[0].embedding)
    assert list(struct.unpack("<8f", raw)) == pytest.approx(plain.data[1].embedding, rel=1e-6)
    assert plain.usage.prompt_tokens == plain.usage.total_tokens > 0
    with pytest.raises(openai.BadRequestError, match="dimensions"):
        client.embeddings.create(model="m", input="a", dimensions=0)


def test_pictures_come_as_base64_or_as_addresses(endpoint):
    url = endpoint().url
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=30)
    reply = client.images.generate(model="m", prompt="a cube", n=2, response_format="b64_json")
    assert [base64.b64decode(one.b64_json)[1:4] for one in reply.data] == [b"PNG", b"PNG"]
    (one,) = client.images.generate(model="m", prompt="a cube", response_format="url").data
    assert one.url.endswith(".png") and one.b64_json is None
    with pytest.raises(openai.BadRequestError, match="n: must be"):
        client.images.generate(model="m", prompt="a cube", n=11)


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg==")


@pytest.fixture
def client_of(endpoint):
    """client_of(flags of the endpoint...) -> an OpenAI client that talks to it."""

    def connect(*flags):
        return openai.OpenAI(base_url=f"{endpoint(*flags).url}/v1", api_key="any", max_retries=0,
                             timeout=30)

    return connect


def test_pictures_are_edited_by_openais_client(client_of):
    client = client_of()
    picture = ("a.png", PNG, "image/png")
    reply = client.images.edit(model="m", image=picture, prompt="a hat", n=2,
                               response_format="b64_json")
    assert [base64.b64decode(one.b64_json)[:4] for one in reply.data] == [b"\x89PNG"] * 2
    several = client.images.edit(model="m", image=[picture, picture], mask=picture,
                                 prompt="a hat", response_format="url")
    # Another picture, another reply.
    assert several.data[0].url != client.images.edit(
        model="m", image=picture, prompt="a hat", response_format="url").data[0].url
    with pytest.raises(openai.BadRequestError, match="n:"):
        client.images.edit(model="m", image=picture, prompt="a hat", n=11)


def test_a_video_is_made_polled_and_fetched_by_openais_client(client_of):
    client = client_of("--osl", 5, "--ttft", "20ms", "--itl", "5ms")
    job = client.videos.create(model="m", prompt="a cube turns", size="1280x720", seconds="8")
    assert (job.object, job.size, job.seconds) == ("video", "1280x720", "8")
    assert job.status in ("queued", "in_progress")
    done = client.videos.poll(job.id, poll_interval_ms=10)
    assert (done.id, done.status, done.progress) == (job.id, "completed", 100)
    video = client.videos.download_content(job.id).read()
    assert video[4:12] == b"ftypisom"
    assert len(video) == 24 + 5 * 1024
    assert client.videos.delete(job.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.videos.retrieve(job.id)


def test_a_reference_picture_may_come_with_a_video(client_of):
    job = client_of().videos.create_and_poll(
        model="m", prompt="it turns", input_reference=("a.png", PNG, "image/png"),
        poll_interval_ms=10)
    assert job.status == "completed"


def test_a_video_that_fails_says_so_to_openais_client(client_of):
    job = client_of("--fault", "error=1").videos.create_and_poll(
        model="m", prompt="x", poll_interval_ms=10)
    assert (job.status, job.error.message) == ("failed", "The job was aborted by the server.")


@pytest.fixture
def tensors(endpoint):
    """Triton's own client of an endpoint that speaks KServe's protocol."""
    url = endpoint().url
    return tritonclient.http.InferenceServerClient(url.removeprefix("http://"))


def test_tritons_client_finds_a_server_that_is_ready(tensors):
    assert tensors.is_server_live() and tensors.is_server_ready() and tensors.is_model_ready("m")
    assert tensors.get_server_metadata()["extensions"] == ["binary_tensor_data"]
    assert tensors.get_model_metadata("m")["outputs"][0]["name"] == "scores"


def test_tensors_are_the_same_as_numbers_and_as_bytes(tensors):
    values = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    words = numpy.array([["a"], ["longer"]], dtype=object)
    seen = {}
    for binary in (False, True):
        inputs = [tritonclient.http.InferInput("x", [2, 3], "FP32"),
                  tritonclient.http.InferInput("s", [2, 1], "BYTES")]
        inputs[0].set_data_from_numpy(values, binary_data=binary)
        inputs[1].set_data_from_numpy(words, binary_data=binary)
        for wanted in (False, True):
            output = tritonclient.http.InferRequestedOutput("y", binary_data=wanted)
            reply = tensors.infer("m", inputs, outputs=[output], request_id="7")
            assert reply.get_response()["id"] == "7"
            seen[binary, wanted] = reply.as_numpy("y")
    assert seen[True, True].shape == (2, 10)
    for binary in (False, True):
        numpy.testing.assert_array_equal(seen[binary, False], seen[binary, True])


def test_tritons_client_reads_a_refusal(tensors):
    with pytest.raises(InferenceServerException, match="1 to 64 tensors"):
        tensors.infer("m", [])


@pytest.fixture
def sound():
    """A tenth of a second of silence, as a WAV file."""
    out = io.BytesIO()
    with wave.open(out, "wb") as silence:
        silence.setnchannels(1)
        silence.setsampwidth(2)
        silence.setframerate(16000)
        silence.writeframes(bytes(3200))
    return ("silence.wav", out.getvalue())


@pytest.mark.parametrize("kind", ["transcriptions", "translations"])
def test_openais_client_sends_a_sound_and_reads_a_transcript(endpoint, sound, kind):
    url = endpoint("--osl", TOKENS).url
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=30)
    reply = getattr(client.audio, kind).create(model="m", file=sound)
    assert reply.text.strip()


def test_openais_client_reads_a_streamed_transcript(endpoint, sound):
    url = endpoint("--osl", TOKENS).url
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0, timeout=30)
    events = list(client.audio.transcriptions.create(model="m", file=sound, stream=True))
    assert [event.type for event in events] == ["transcript.text.delta"] * TOKENS + [
        "transcript.text.done"]
    assert "".join(event.delta for event in events[:-1]) == events[-1].text
    assert events[-1].usage.output_tokens == TOKENS


def test_openais_client_is_told_what_is_wrong_with_a_sound(endpoint):
    client = openai.OpenAI(base_url=f"{endpoint().url}/v1", api_key="any", max_retries=0,
                           timeout=30)
    with pytest.raises(openai.BadRequestError, match="is empty"):
        client.audio.transcriptions.create(model="m", file=("a.wav", b""))


@pytest.fixture
def speech(endpoint):
    """speech(endpoint flags...) -> the Speech of an OpenAI client that talks to it."""

    def connect(*flags):
        url = endpoint("--osl", TOKENS, *flags).url
        return openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0,
                             timeout=30).audio.speech

    return connect


def test_openais_client_hears_a_tone_as_samples_and_as_a_file(speech):
    api = speech()
    samples = api.create(model="m", voice="alloy", input="Hello", response_format="pcm").content
    assert len(samples) == TOKENS * 24 * 48
    assert max(struct.unpack(f"<{len(samples) // 2}h", samples)) == 8000
    whole = api.create(model="m", voice="alloy", input="Hello", response_format="wav",
                       extra_body={"stream": False}).content
    with wave.open(io.BytesIO(whole)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2)
        assert file.readframes(file.getnframes()) == samples


def test_openais_client_streams_speech_in_each_way(speech):
    api = speech("--itl", "2ms").with_streaming_response
    with api.create(model="m", voice="alloy", input="Hello") as reply:  # mp3
        assert reply.headers["content-type"] == "audio/mpeg"
        assert b"".join(reply.iter_bytes()) == (b"\xff\xf3\x84\xc0" + bytes(188)) * TOKENS
    with api.create(model="m", voice="alloy", input="Hello", response_format="pcm",
                    stream_format="sse") as reply:
        events = [json.loads(line.removeprefix("data: ")) for line in reply.iter_lines()
                  if line.startswith("data: ")]
    assert [event["type"] for event in events] == ["speech.audio.delta"] * TOKENS + [
        "speech.audio.done"]
    sound = b"".join(base64.b64decode(event["audio"]) for event in events[:-1])
    assert len(sound) == TOKENS * 24 * 48
    assert events[-1]["usage"]["output_tokens"] == TOKENS


def test_openais_client_is_told_what_is_wrong_with_a_request_for_speech(speech):
    api = speech()
    with pytest.raises(openai.BadRequestError, match="input: is required"):
        api.create(model="m", voice="alloy", input="")
    with pytest.raises(openai.BadRequestError, match="pcm, wav and mp3"):
        api.create(model="m", voice="alloy", input="Hello", response_format="flac")
