#include "endpoint/quirk.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::endpoint {
namespace {

constexpr std::array<QuirkRow, kQuirks> kTable = {{
    {Quirk::role_first, "role-first", "the first event has a role and an empty content",
     "OpenAI, vLLM, SGLang"},
    {Quirk::empty_first, "empty-first", "the first event has an empty delta",
     "Azure OpenAI (prompt filter results), some gateways"},
    {Quirk::finish_with_last, "finish-with-last", "the last token's event has the finish reason",
     "vLLM, SGLang, TensorRT-LLM"},
    {Quirk::reasoning_field, "reasoning-field", "reasoning is called `reasoning`",
     "OpenRouter, Groq, newer vLLM"},
    {Quirk::always_usage, "always-usage", "a usage-only last event, without a request for it",
     "DeepSeek, Mistral, TensorRT-LLM"},
    {Quirk::usage_with_finish, "usage-with-finish", "usage is in the event with the finish reason",
     "DeepSeek, Mistral, Together"},
    {Quirk::usage_every_event, "usage-every-event", "each event has the usage so far",
     "vLLM (continuous_usage_stats), Perplexity"},
    {Quirk::no_usage, "no-usage", "stream_options.include_usage is ignored",
     "older TGI and llama.cpp, many gateways"},
    {Quirk::no_done, "no-done", "the stream ends without [DONE]", "Ollama's native API, gateways"},
    {Quirk::late_done, "late-done", "[DONE] comes 250 ms after the last event",
     "servers with output filters or logging before the end"},
    {Quirk::error_in_stream, "error-in-stream", "half-way an error object, then [DONE]",
     "vLLM, SGLang when a request is aborted"},
    {Quirk::usage_inflated, "usage-inflated", "usage says a thousand times the tokens",
     "billing proxies with a wrong unit; cheating"},
    {Quirk::usage_zero, "usage-zero", "usage says 0 tokens",
     "gateways that fill in what the server behind them did not say"},
    {Quirk::first_burst, "first-burst", "the first eight tokens come in one event",
     "servers with a stream interval, filters that look before they let through"},
    {Quirk::hidden_reasoning, "hidden-reasoning",
     "reasoning (--reasoning) is counted in usage and not sent",
     "OpenAI's o-series, many gateways"},
    {Quirk::empty_reply, "empty-reply", "a reply without any content, and its finish reason",
     "a model that is dead behind a gateway that is not"},
    {Quirk::not_streamed, "not-streamed", "a JSON object though a stream was asked for",
     "gateways that do not know stream"},
    {Quirk::goes_on_after_done, "goes-on-after-done", "a fragment comes after [DONE]",
     "servers that end a stream in two places"},
    {Quirk::crlf, "crlf", "lines end in CR LF", "sse-starlette (llama-cpp-python, TabbyAPI)"},
    {Quirk::comments, "comments", "comment lines between events",
     "OpenRouter, sse-starlette's pings"},
    {Quirk::pings, "pings", "`event: ping` events without a choice", "Anthropic-style gateways"},
    {Quirk::sse_fields, "sse-fields", "id, event and retry fields on each event",
     "gateways built on generic SSE libraries"},
    {Quirk::no_space, "no-space", "`data:{` without the space", "TGI, several Java and Go servers"},
    {Quirk::spaced_json, "spaced-json", "JSON with a space after each colon and comma",
     "Python servers that use json.dumps"},
    {Quirk::multi_data, "multi-data", "one event's JSON over several data lines",
     "legal by the standard; pretty-printing gateways"},
    {Quirk::split_event, "split-event", "each event in two segments, 2 ms apart",
     "any server behind a proxy that flushes by size"},
    {Quirk::split_utf8, "split-utf8", "as split-event, cut inside a UTF-8 character",
     "any server behind a proxy, with text beyond ASCII"},
    {Quirk::joined_events, "joined-events", "two events in each segment",
     "servers under load, proxies that gather"},
    {Quirk::ragged_chunks, "ragged-chunks",
     "chunks of 7 bytes with extensions, and a trailer at the end", "legal by RFC 9112; proxies"},
    {Quirk::wrong_content_type, "wrong-content-type", "the stream is called application/json",
     "gateways that set one type for all"},
    {Quirk::gzip, "gzip", "bodies are compressed where the client accepts it",
     "nginx, Cloudflare, Starlette's GZipMiddleware"},
    {Quirk::gzip_forced, "gzip-forced", "bodies are compressed whatever the client accepts",
     "misconfigured proxies"},
    {Quirk::chunked_plain, "chunked-plain", "replies that are not streamed are chunked too",
     "Node and Go servers"},
    {Quirk::close_delimited, "close-delimited",
     "no length and no chunks: the end of the connection ends the body",
     "older proxies, minimal servers"},
    {Quirk::http10, "http10", "replies are HTTP/1.0", "Python's http.server, nginx upstreams"},
    {Quirk::interim, "interim", "a 103 response comes before the real one", "Cloudflare, h2o"},
    {Quirk::slow_headers, "slow-headers", "the head comes in five pieces, 50 ms apart",
     "overloaded proxies"},
    {Quirk::stall, "stall", "half-way nothing comes for a second (--stall)",
     "preemption and recomputation in a full KV cache"},
    {Quirk::silent_close, "silent-close", "the connection closes after a reply unannounced",
     "uvicorn's keep-alive limit, load balancers' idle limits"},
    {Quirk::cached_replies, "cached-replies",
     "a request body that was served before is answered at once, from a cache",
     "gateways with response caches (LiteLLM, Portkey, Cloudflare AI Gateway)"},
    {Quirk::unguarded, "unguarded",
     "with 8 other requests at work, a reply says only the canary word, which it should not",
     "servers that leave out a guard model under load"},
    {Quirk::cut_reset, "cut-reset", "half-way the connection is reset", "a worker that crashed"},
    {Quirk::cut_close, "cut-close", "half-way the connection is closed in the ordinary way",
     "load balancers' time limits"},
    {Quirk::http429, "http429", "429 with Retry-After", "rate limits of hosted APIs"},
    {Quirk::http500, "http500", "500 with an error object", "anything"},
}};

}  // namespace

std::span<const QuirkRow> quirk_table() { return kTable; }

std::string_view to_string(Quirk quirk) {
  const QuirkRow& row = kTable[static_cast<std::size_t>(quirk)];
  CHECK(row.quirk == quirk);
  return row.name;
}

Result<Quirk> parse_quirk(std::string_view text) {
  std::string name(text);
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string_view> names;
  for (const QuirkRow& row : kTable) {
    if (row.name == name) return row.quirk;
    names.push_back(row.name);
  }
  const std::string_view near = nearest(name, names);
  if (near.empty()) return invalid(format("no quirk '{}'; --quirk help lists them", text));
  return invalid(format("no quirk '{}'; did you mean '{}'?", text, near));
}

std::string quirk_help() {
  std::string text;
  for (const QuirkRow& row : kTable) {
    text += format("{:<20}{}\n{:<20}as do: {}\n", row.name, row.what, "", row.who);
  }
  return text;
}

}  // namespace assay::endpoint
