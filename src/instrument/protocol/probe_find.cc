// The judging part of probe.h: each function checks one thing and writes at most a few sentences.
#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "protocol/kind/kind.h"
#include "protocol/probe.h"
#include "protocol/probe_sound.h"
#include "protocol/secrets.h"

namespace assay::protocol {
namespace {

constexpr Duration kLongTail = 25_ms;  // and four times the usual gap
constexpr Duration kLongEnd = 5_ms;
constexpr Duration kLongGap = 200_ms;
constexpr Duration kHeldBack = 100_ms;

class Finder {
 public:
  Finder(const ProbeQuestion& question, const ProbeAnswers& answers, ProbeReport& report)
      : question_(question),
        a_(answers),
        kind_(kind_of(answers.spoken())),
        report_(report),
        s_(report.streamed),
        p_(report.plain) {}

  void run() {
    connection();
    models();
    if (is_tensors(a_.api)) {
      tensors();
    } else if (!row_of(a_.api).streams) {
      whole();
    } else if (kind_.raw_sound) {
      find_sound(missing(s_, a_.streamed), a_, report_);
    } else if (stream_came()) {
      stream_http();
      stream_form();
      first_event();
      pace();
      stream_end();
      stream_usage();
    }
    if (a_.plain_asked && row_of(a_.api).streams && !kind_.raw_sound) plain();
    kinds();
  }

 private:
  void add(Verdict verdict, std::string_view topic, std::string text) {
    report_.findings.push_back({verdict, std::string(topic), std::move(text)});
  }
  void good(std::string_view topic, std::string text) {
    add(Verdict::good, topic, std::move(text));
  }
  void note(std::string_view topic, std::string text) {
    add(Verdict::note, topic, std::move(text));
  }
  void bad(std::string_view topic, std::string text) { add(Verdict::bad, topic, std::move(text)); }

  void connection() {
    const std::string time = human_duration(a_.connect_time);
    const std::string over = a_.tls_version.empty() ? "" : format(" over {}", a_.tls_version);
    const ReplyFacts& any = s_.has_head ? s_ : p_;
    if (!any.has_head) return;
    if (question_.insecure && !a_.tls_version.empty()) {
      note("TLS", "its certificate was not checked (--insecure): anybody may have answered");
    }
    if (any.head.minor_version == 0) {
      bad("connection", format("HTTP/1.0{}: a connection for each query; every TTFT will hold the "
                               "{} that connecting takes",
                               over, time));
      return;
    }
    if (a_.plain_asked && s_.complete && !a_.plain_on_same_connection) {
      bad("connection",
          format("HTTP/1.1{}, but closed after a reply{}: each query pays {} for a "
                 "new connection, and a high rate uses up ports",
                 over, s_.head.keep_alive ? " whose head promised to keep it" : "", time));
      return;
    }
    const bool kept = any.complete && any.head.keep_alive;
    good("connection",
         format("HTTP/1.1{}, connected in {}{}", over, time, kept ? ", kept alive" : ""));
  }

  void models() {
    if (!a_.models_asked) return;
    const bool named = !question_.model.empty();
    if (a_.models.empty()) {
      note("models", format("it lists none ({}); {}",
                            a_.models_status == 0     ? "no reply to GET /v1/models"
                            : a_.models_status == 200 ? "HTTP 200, and no model in it"
                                                      : format("HTTP {}", a_.models_status),
                            named ? format("'{}' was asked for", printable(a_.model))
                                  : "asked without a name: give one by --model"));
      return;
    }
    const bool listed = std::ranges::find(a_.models, a_.model) != a_.models.end();
    if (!listed) {
      note("models", format("'{}' is not among the {} it lists (the first is '{}')",
                            printable(a_.model), a_.models.size(), printable(a_.models[0])));
      return;
    }
    good("models", a_.models.size() == 1
                       ? format("one: {}", printable(a_.model))
                       : format("{} listed; asked {}", a_.models.size(), printable(a_.model)));
  }

  void kinds() {
    std::string there;
    std::string closed;
    for (const KindAnswer& kind : a_.kinds) {
      if (kind.there()) report_.kinds.emplace_back(to_string(kind.api));
      std::string& list = kind.there() ? there : closed;
      if (!kind.there() && !kind.closed()) continue;
      list += format("{}{}", list.empty() ? "" : ", ", to_string(kind.api));
    }
    if (!there.empty()) good("kinds", format("it has the routes of {} (--api-type)", there));
    if (!closed.empty()) note("kinds", format("a key is needed to see whether it has {}", closed));
  }

  // What ends a stream of this kind.
  std::string_view end_mark() const { return kind_.ends_itself ? kind_.end_name : "[DONE]"; }

  // What came instead of a reply; empty if a reply came.
  std::string missing(const ReplyFacts& f, const Recording& recording) const {
    if (!f.fault.empty()) return format("no sound HTTP: {}", f.fault);
    if (!f.has_head) {
      switch (recording.ending) {
        case Recording::Ending::timed_out:
          return format("no reply in {}", human_duration(question_.timeout));
        case Recording::Ending::closed:
          return "the connection was closed without a reply";
        default:
          return "the connection was reset without a reply";
      }
    }
    if (f.head.status == 200) return "";
    std::string words = f.head.location.empty() ? printable(f.error)
                                                : "it has moved to " + printable(f.head.location);
    if (!words.empty()) words.insert(0, ": ");
    std::string door;
    if (f.head.status == 401 || f.head.status == 403) {
      door = question_.api_key.empty() ? "; give a key by --api-key-env NAME"
                                       : "; the key was not accepted";
    } else if (f.head.status == 404) {
      door =
          "; is the URL its base (http://host:port or …/v1), the --model right, the --api spoken?";
    } else if (f.head.status == 429 && f.head.retry_after_s() >= 0) {
      door = format("; it asks to wait {} s", f.head.retry_after_s());
    }
    return format("HTTP {}{}{}", f.head.status, words, door);
  }

  bool stream_came() {
    const std::string why = missing(s_, a_.streamed);
    if (!why.empty()) {
      bad("stream", why);
      return false;
    }
    if (s_.head.coding != net::ContentCoding::identity) {
      bad("compression",
          "the stream comes compressed, and the request asked for none: the compressor decides "
          "when a token leaves; Assay counts such replies as bad");
      return false;
    }
    if (!s_.streamed) {
      bad("stream",
          s_.fragments > 0
              ? "asked for a stream, got one whole reply: TTFT and TPOT cannot be "
                "measured, only latency"
              : format("no stream and no reply came: {}", printable(s_.body.substr(0, 100))));
      return false;
    }
    return true;
  }

  void stream_http() {
    if (kind_.lines) {
      good("content type", format("{}, read as lines", printable(header_of(s_, "content-type"))));
    } else if (s_.head.type == net::ContentType::event_stream) {
      good("content type", "text/event-stream");
    } else {
      const std::string type = header_of(s_, "content-type");
      bad("content type",
          format("{} on a stream: clients that go by it (OpenAI's, browsers) will not read it; "
                 "Assay goes by the bytes",
                 type.empty() ? "none" : "'" + printable(type) + "'"));
    }
    if (s_.head.has_length) {
      bad("framing",
          "the stream has a Content-Length, so it was finished before its first byte "
          "left: TTFT is its latency");
    } else if (!s_.head.chunked) {
      note("framing",
           format("the stream ends where the connection ends: only {} tells a whole reply "
                  "from a broken one",
                  end_mark()));
    }
    if (s_.complete) return;
    const bool marked = s_.done_marker.known();
    const std::string_view how = a_.streamed.ending == Recording::Ending::timed_out
                                     ? "the stream did not end in time"
                                     : "the connection broke inside the stream";
    if (marked) {
      note("framing", format("{}, but {} had come: only framing is missing", how, end_mark()));
    } else {
      bad("framing", format("{}: tools that take its end for the reply's end count it as a "
                            "success; Assay counts it as failed",
                            how));
    }
  }

  // The stream ended early; that has been reported.
  bool broken() const {
    return !s_.complete && !s_.done_marker.known() && s_.finish == FinishReason::none;
  }

  void stream_form() {
    if (s_.carriage_returns && !kind_.lines) {
      note("line ends",
           "CR LF: readers that look for LF LF alone (the MLCommons reference client) "
           "see no event before the end; Assay does");
    }
    if (s_.comments > 0) {
      good("comments", format("{} (pings or the like); they are not events",
                              counted(s_.comments, "comment line")));
    }
    const auto strangers =
        static_cast<std::size_t>(std::ranges::count_if(s_.events, [](const RecordedEvent& event) {
          return event.category == Category::other && !event.malformed;
        }));
    if (strangers > 0) {
      good("events", format("{} without a choice (pings or the like); they bring no tokens",
                            counted(strangers, "event")));
    }
    if (s_.malformed > 0) {
      bad("events",
          format("{} of {} {} not a JSON object: clients that parse each event fail there",
                 s_.malformed, s_.events.size(), s_.malformed == 1 ? "is" : "are"));
    }
    if (!s_.error.empty()) {
      bad("error", format("HTTP 200, then an error inside the stream: \"{}\"; tools that read only "
                          "the status count it as a success, Assay as failed",
                          printable(s_.error)));
    }
    if (s_.split_characters > 0) {
      note("characters", format("{} {} inside a character: tools that decode each one alone show "
                                "\uFFFD; Assay joins the bytes first",
                                counted(s_.split_characters, "fragment"),
                                s_.split_characters == 1 ? "ends or begins" : "end or begin"));
    }
  }

  void unread() {
    if (s_.unread_events == 0) return;
    bad("names", format("{} words under \"{}\", a name that Assay does not know: they count for "
                        "nothing, and TTFT is that of the first words under a known one",
                        s_.unread_events == 1 ? "an event has"
                                              : counted(s_.unread_events, "event") + " have",
                        printable(s_.unread)));
  }

  void first_event() {
    unread();
    if (s_.fragments == 0) {
      if (s_.error.empty()) bad("text", "no event brought any text");
      return;
    }
    const RecordedEvent& first = s_.events.front();
    const Duration early = s_.first_token - s_.first_event;
    if (!first.fragments.empty()) {
      good("first event", "brings the first token");
    } else if (first.read == first_token_read()) {
      good("first event", "is empty, but comes with the first token");
    } else if (first.category != Category::unread) {
      note("first event", format("is empty ({}): tools that time the first event will report a "
                                 "TTFT {} too early; Assay does not",
                                 to_string(first.category), human_duration(early)));
    }
    if (s_.reasoning_fragments > 0) reasoning();
  }

  void reasoning() {
    if (!s_.first_visible.known()) {
      note("reasoning",
           format("all {} fragments are reasoning: within {} tokens a user would have seen nothing",
                  s_.fragments, a_.tokens_max));
      return;
    }
    const Duration later = s_.first_visible - s_.first_token;
    note("reasoning",
         format("{} of {} fragments are reasoning: TTFT counts from the first of any kind; the "
                "first visible one comes {}",
                s_.reasoning_fragments, s_.fragments,
                later > Duration{} ? human_duration(later) + " later" : "at the same instant"));
  }

  // REQUIRES: an event has a fragment.
  std::size_t first_token_read() const {
    const auto first = std::ranges::find_if(
        s_.events, [](const RecordedEvent& event) { return !event.fragments.empty(); });
    return first->read;
  }

  // How tokens lie over events, and events over reads.
  void pace() {
    if (s_.fragments < 2) return;
    std::vector<const RecordedEvent*> speaking;
    for (const RecordedEvent& event : s_.events) {
      if (!event.fragments.empty()) speaking.push_back(&event);
    }
    std::size_t reads = 1;
    std::vector<Duration> gaps;
    for (std::size_t i = 1; i < speaking.size(); ++i) {
      if (speaking[i]->read == speaking[i - 1]->read) continue;
      ++reads;
      gaps.push_back(speaking[i]->at - speaking[i - 1]->at);
    }
    tokens_an_event(speaking.size());
    // A reply that is held back comes at once at the end, though perhaps in several writes.
    const Duration wait = s_.first_token - a_.streamed.sent;
    const Duration span = speaking.back()->at - speaking.front()->at;
    const bool held = wait > kHeldBack;
    if (speaking.size() >= 4 && (reads == 1 || (held && span.ns * 50 < wait.ns))) {
      add(held ? Verdict::bad : Verdict::note, "pace",
          format("all {} events came {}: {}", speaking.size(),
                 reads == 1 ? "in one read" : "within " + human_duration(span),
                 held ? "something holds the stream back to its end (a proxy that buffers?); TTFT "
                        "is the latency"
                      : "the reply takes no time, or something holds it back to its end"));
    } else if (reads * 3 < speaking.size() * 2) {
      note("pace", format("{} events came in {}: something gathers them (the server's stream "
                          "interval, a proxy), and gaps between tokens are not the model's",
                          speaking.size(), counted(reads, "read")));
    }
    if (gaps.size() < 3) return;
    std::ranges::sort(gaps);
    const Duration median = usual_gap_ = gaps[gaps.size() / 2];
    const Duration longest = gaps.back();
    if (longest > kLongGap && longest > median * 10) {
      note("pace", format("the longest gap between tokens is {}, the usual one {}",
                          human_duration(longest), human_duration(median)));
    }
  }

  void tokens_an_event(std::size_t events) {
    if (s_.usage.completion_tokens <= 0) return;
    const double ratio =
        static_cast<double>(s_.usage.completion_tokens) / static_cast<double>(events);
    if (ratio > 1.1) {
      note("tokens",
           format("{} an event (speculative decoding, or events gathered): ITL is the gap "
                  "between events, and tools that count events count too few tokens",
                  three_digits(ratio)));
    } else if (ratio < 0.9) {
      note("tokens",
           format("{} an event: more events than tokens, so tools that count events count "
                  "too many",
                  three_digits(ratio)));
    } else {
      good("tokens", "one an event");
    }
  }

  void stream_end() {
    const bool marked = s_.done_marker.known();
    const bool finished = s_.finish != FinishReason::none;
    if (broken()) return;
    if (kind_.ends_itself && !marked) {
      bad("end", format("no {}: a broken stream looks like a whole one; Assay counts such replies "
                        "as truncated, that is, failed",
                        end_mark()));
    } else if (!finished && !marked) {
      if (s_.error.empty()) {
        bad("end",
            "neither a finish reason nor [DONE]: a broken stream looks like a whole one; "
            "Assay counts such replies as truncated, that is, failed");
      }
    } else if (!finished) {
      note("end",
           format("{}, but no finish reason: whether a reply ended by itself or by its limit "
                  "is unknown",
                  end_mark()));
    } else if (!marked) {
      note("end", format("finish reason '{}', but no [DONE]: clients that wait for it wait for the "
                         "body's end; Assay does not need it",
                         to_string(s_.finish)));
    } else {
      good("end", format("finish reason '{}', {} {}", to_string(s_.finish),
                         kind_.ends_itself ? "and" : "then", end_mark()));
    }
    if (s_.events_after_done > 0) {
      note("end", format("{} after {}, which most clients never see",
                         counted(s_.events_after_done, "event"), end_mark()));
    }
    if (s_.fragments == 0) return;
    const Instant told = marked ? s_.done_marker : s_.end;
    const Duration tail = told - s_.last_token;
    if (tail > kLongTail && tail > usual_gap_ * 4) {
      note("end", format("comes {} after the last token: latencies up to {} hold that too; "
                         "Assay keeps both instants",
                         human_duration(tail), end_mark()));
    }
    if (s_.complete && s_.end - told > kLongEnd) {
      note("end", format("the stream ends {} after {}: a client that keeps a number of queries "
                         "in flight, Assay too, sends its next one so much later",
                         human_duration(s_.end - told), end_mark()));
    }
  }

  void stream_usage() {
    if (a_.usage_refused) {
      bad("usage", format("stream_options is refused ({}): set include_usage: false; output tokens "
                          "must then be counted by a tokenizer",
                          printable(a_.usage_refusal)));
      return;
    }
    if (s_.usage_events == 0) {
      if (broken() || !s_.error.empty() || s_.fragments == 0) return;
      bad("usage", kind_.ends_itself
                       ? "no token counts: output tokens must be counted by a tokenizer"
                   : a_.api == Api::sglang
                       ? "no meta_info counts: output tokens must be counted by a tokenizer"
                       : "stream_options asked for token counts, and none came: output tokens must "
                         "be counted by a tokenizer");
      return;
    }
    const std::int64_t output = s_.usage.completion_tokens;
    const std::string counts =
        format("prompt {}, completion {}", count_word(s_.usage.prompt_tokens), count_word(output));
    if (output < 0 || (output == 0 && s_.fragments > 0)) {
      bad("usage",
          format("{}{}: output tokens must be counted by a tokenizer", counts,
                 output < 0 ? "" : format(", though {} came", counted(s_.fragments, "fragment"))));
    } else if (s_.usage_events > 2 && a_.api != Api::sglang) {
      note("usage", format("{}; counts come with {} of {} events, which makes each larger", counts,
                           s_.usage_events, s_.events.size()));
    } else {
      good("usage", format("counted by the server: {}", counts));
    }
    over_the_limit(s_.usage, "streamed");
  }

  static std::string count_word(std::int64_t count) {
    return count < 0 ? std::string("unknown") : format("{}", count);
  }

  void over_the_limit(const Usage& usage, std::string_view which) {
    if (usage.completion_tokens <= a_.tokens_max) return;
    const bool has_other_name = kind_.limit_name == "max_completion_tokens";
    bad("limit", format("{}: asked for at most {} tokens, got {}: {} is not obeyed, so output "
                        "lengths will not be the plan's{}",
                        which, a_.tokens_max, usage.completion_tokens, kind_.limit_name,
                        has_other_name ? "; some servers know only max_tokens (extra_body)" : ""));
  }

  // Whether a whole reply came; else a finding says what came instead.
  bool whole_came(std::string_view topic) {
    const std::string why = missing(p_, a_.plain);
    if (!why.empty()) {
      bad(topic, why);
    } else if (p_.head.coding != net::ContentCoding::identity) {
      bad(topic, "comes compressed without a request for it; Assay counts such replies as bad");
    } else if (!p_.complete) {
      bad(topic, "the connection broke before the reply's end");
    } else if (p_.streamed) {
      bad(topic, "asked for a whole reply, got a stream");
    } else {
      return true;
    }
    return false;
  }

  // Whether it is a reply of the kind.
  bool reply_came(std::string_view topic) {
    if (!whole_came(topic)) return false;
    const RecordedEvent* const reply = p_.events.empty() ? nullptr : &p_.events.front();
    if (reply != nullptr && !reply->malformed && reply->has_choice) return true;
    bad(topic, p_.error.empty() ? format("no reply of {}: {}", name_of(a_.spoken()),
                                         printable(p_.body.substr(0, 100)))
                                : format("HTTP 200 with an error: \"{}\"", printable(p_.error)));
    return false;
  }

  void plain() {
    if (reply_came("plain")) plain_reply();
  }

  // The one reply of a kind without streams.
  void whole() {
    if (!reply_came("reply")) return;
    good("reply", format("{} in {}", counted(p_.events.front().units, row_of(a_.api).unit),
                         human_duration(p_.end - a_.plain.sent)));
  }

  // What a server of tensors says of itself and of its model.
  void tensors() {
    if (!whole_came("tensors")) return;
    const Json about = Json::parse(p_.body).value_or(Json());
    if (!about["name"].is_string()) {
      bad("tensors",
          format("no words of KServe's about it: {}", printable(p_.body.substr(0, 100))));
      return;
    }
    report_.answers = true;
    if (a_.model.empty()) {
      good("server", format("it is {} {}", printable(about["name"].as_string()),
                            printable(about["version"].as_string())));
      note("model", "no model was named (--model): only the server was asked");
      return;
    }
    good("tensors", format("inputs {}; outputs {}", tensor_names(about["inputs"]),
                           tensor_names(about["outputs"])));
  }

  static std::string tensor_names(const Json& list) {
    std::string out;
    for (const Json& one : list.items()) {
      out += format("{}{} {}{}", out.empty() ? "" : ", ", printable(one["name"].as_string()),
                    printable(one["datatype"].as_string()), printable(one["shape"].dump()));
    }
    return out.empty() ? "any" : out;
  }

  void plain_reply() {
    if (p_.head.type != net::ContentType::json) {
      note("plain", format("content type '{}': it is JSON all the same",
                           printable(header_of(p_, "content-type"))));
    }
    if (p_.fragments == 0) note("plain", "the reply is empty");
    if (p_.usage.completion_tokens < 0) {
      note("plain", "no token counts: output tokens must be counted by a tokenizer");
    }
    if (s_.usage.prompt_tokens >= 0 && p_.usage.prompt_tokens >= 0 &&
        s_.usage.prompt_tokens != p_.usage.prompt_tokens) {
      note("plain",
           format("counts {} prompt tokens where the stream counted {} for the same prompt",
                  p_.usage.prompt_tokens, s_.usage.prompt_tokens));
    }
    if (p_.finish == FinishReason::none) note("plain", "no finish reason");
    over_the_limit(p_.usage, "plain");
    const std::string counts = p_.usage.completion_tokens >= 0
                                   ? format(", {} tokens", p_.usage.completion_tokens)
                                   : std::string();
    good("plain", format("a whole reply{} in {}", counts, human_duration(p_.end - a_.plain.sent)));
  }

  const ProbeQuestion& question_;
  const ProbeAnswers& a_;
  const Kind& kind_;
  ProbeReport& report_;
  const ReplyFacts& s_;
  const ReplyFacts& p_;
  Duration usual_gap_{};
};

bool usable(const ReplyFacts& facts) {
  return facts.has_head && facts.head.status == 200 && facts.error.empty() &&
         (facts.complete || facts.done_marker.known()) &&
         std::ranges::any_of(facts.events,
                             [](const RecordedEvent& event) { return event.has_choice; });
}

}  // namespace

ProbeReport find(const ProbeQuestion& question, const ProbeAnswers& answers) {
  const Redactor redactor = redactor_of(
      Endpoints{.urls = {question.url}, .api_key = question.api_key, .headers = question.headers});
  ProbeReport report;
  report.url = redactor.text(question.url);
  report.model = answers.model;
  report.models = answers.models;
  report.streamed = read_recording(answers.streamed, answers.spoken(), true, answers.sound_rate);
  if (answers.plain_asked) {
    report.plain = read_recording(answers.plain, answers.spoken(), false, answers.sound_rate);
  }
  redact(report.streamed, redactor);
  redact(report.plain, redactor);
  report.streamed_sent = answers.streamed.sent;
  report.plain_sent = answers.plain.sent;
  report.answers = usable(report.streamed) || usable(report.plain);
  Finder(question, answers, report).run();
  std::ranges::stable_sort(report.findings, [](const ProbeFinding& a, const ProbeFinding& b) {
    return a.verdict > b.verdict;
  });
  return report;
}

}  // namespace assay::protocol
