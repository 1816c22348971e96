"""OpenAI's own Python client against `assay endpoint`: it must not see a difference."""

import json

import openai
import pytest

TOKENS = 12
QUESTION = [{"role": "user", "content": "What is a token?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    },
}


@pytest.fixture
def client(endpoint):
    """client(flags of the endpoint...) -> an OpenAI client that talks to it."""

    def connect(*flags, key="any"):
        url = endpoint("--osl", TOKENS, *flags).url
        return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=30)

    return connect


def test_lists_its_model(client):
    models = client("--model", "tiny").models.list()
    assert [model.id for model in models.data] == ["tiny"]


def test_a_plain_chat_counts_its_tokens(client):
    reply = client().chat.completions.create(model="m", messages=QUESTION)
    choice = reply.choices[0]
    assert choice.message.role == "assistant"
    assert choice.message.content
    assert choice.finish_reason == "stop"
    assert reply.usage.completion_tokens == TOKENS
    assert reply.usage.prompt_tokens > 0
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + TOKENS


def test_max_tokens_ends_a_chat_by_length(client):
    reply = client().chat.completions.create(model="m", messages=QUESTION, max_tokens=5)
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage.completion_tokens == 5


def test_a_streamed_chat_says_what_the_plain_one_says(client):
    api = client("--seed", "7")
    plain = api.chat.completions.create(model="m", messages=QUESTION)
    chunks = list(api.chat.completions.create(model="m", messages=QUESTION, stream=True,
                                              stream_options={"include_usage": True}))
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    reasons = [choice.finish_reason for chunk in chunks for choice in chunk.choices
               if choice.finish_reason]
    assert len(text.split()) == len(plain.choices[0].message.content.split())
    assert reasons == ["stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == TOKENS
    assert all(chunk.usage is None for chunk in chunks[:-1])


def test_a_stream_without_the_option_has_no_usage(client):
    chunks = list(client().chat.completions.create(model="m", messages=QUESTION, stream=True))
    assert all(chunk.usage is None for chunk in chunks)


def test_the_clients_own_stream_reader_adds_up(client):
    with client().chat.completions.stream(model="m", messages=QUESTION) as stream:
        events = [event.type for event in stream]
        whole = stream.get_final_completion()
    assert events.count("content.delta") == TOKENS
    assert whole.choices[0].message.content
    assert whole.choices[0].finish_reason == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_completions(client, stream):
    reply = client().completions.create(model="m", prompt="Once upon", stream=stream)
    if stream:
        chunks = list(reply)
        assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices)
        assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    else:
        assert reply.choices[0].text
        assert reply.usage.completion_tokens == TOKENS


def test_completions_of_token_ids(client):
    reply = client().completions.create(model="m", prompt=[1, 2, 3, 4, 5])
    assert reply.usage.prompt_tokens == 5


def test_a_tool_is_called_with_arguments_that_fit_its_schema(client):
    reply = client().chat.completions.create(model="m", messages=QUESTION, tools=[WEATHER])
    assert reply.choices[0].finish_reason == "tool_calls"
    call = reply.choices[0].message.tool_calls[0]
    assert call.function.name == "weather"
    arguments = json.loads(call.function.arguments)
    assert isinstance(arguments["city"], str)
    assert isinstance(arguments["days"], int)


def test_a_streamed_tool_call_adds_up_to_the_same(client):
    chunks = list(client().chat.completions.create(model="m", messages=QUESTION, tools=[WEATHER],
                                                   stream=True))
    pieces = [call for chunk in chunks for choice in chunk.choices
              for call in choice.delta.tool_calls or []]
    assert [piece.function.name for piece in pieces if piece.function.name] == ["weather"]
    arguments = json.loads("".join(piece.function.arguments or "" for piece in pieces))
    assert set(arguments) == {"city", "days"}


@pytest.mark.parametrize("flags, error", [
    (("--quirk", "http429"), openai.RateLimitError),
    (("--quirk", "http500"), openai.InternalServerError),
    (("--api-key", "secret"), openai.AuthenticationError),
    (("--model", "tiny", "--strict-model"), openai.NotFoundError),
])
def test_errors_are_the_clients_own_kinds(client, flags, error):
    with pytest.raises(error) as caught:
        client(*flags).chat.completions.create(model="m", messages=QUESTION)
    assert caught.value.body["message"]


def test_a_bad_request_names_what_is_wrong(client):
    with pytest.raises(openai.BadRequestError) as caught:
        client().chat.completions.create(model="m", messages=QUESTION, max_tokens=-1)
    assert "max_tokens" in str(caught.value)


def test_the_right_key_opens(client):
    api = client("--api-key", "secret", key="secret")
    assert api.chat.completions.create(model="m", messages=QUESTION).choices


def test_an_error_inside_a_stream_is_an_api_error(client):
    api = client("--quirk", "error-in-stream")
    with pytest.raises(openai.APIError):
        list(api.chat.completions.create(model="m", messages=QUESTION, stream=True))


def test_characters_cut_in_two_arrive_whole(client):
    chunks = client("--quirk", "split-utf8").chat.completions.create(
        model="m", messages=QUESTION, stream=True)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert len(text) < len(text.encode())  # it has characters that can be cut
    assert "\ufffd" not in text


@pytest.mark.parametrize("quirk", [
    "role-first", "empty-first", "finish-with-last", "always-usage", "usage-with-finish",
    "usage-every-event", "no-done", "late-done", "crlf", "comments", "sse-fields", "no-space",
    "spaced-json", "multi-data", "split-event", "joined-events", "ragged-chunks",
    "gzip", "close-delimited",
])
def test_the_client_reads_through_what_real_servers_do(client, quirk):
    """A quirk is only worth testing against if other clients read the same text through it."""

    def text(*flags):
        chunks = client(*flags).chat.completions.create(model="m", messages=QUESTION, stream=True)
        return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)

    assert text("--quirk", quirk) == text() != ""
