#include "report/content.h"

#include <algorithm>

#include "base/check.h"
#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "metrics/early_stopping.h"
#include "metrics/failed_share.h"
#include "report/basis.h"

namespace assay::report {
namespace {

using metrics::Distribution;
using metrics::Point;

bool open_loop(const Point& point) {
  return std::ranges::any_of(point.run.phases, [](const PhaseInfo& phase) {
    return phase.kind == PhaseKind::performance && phase.open_loop;
  });
}

// 2026-11-20T14:48:22.123456789Z -> 2026-11-20 14:48:22 UTC
std::string second_text(WallTime time) {
  std::string text = rfc3339(time);
  text[10] = ' ';
  return text.substr(0, 19) + " UTC";
}

Headline throughput_headline(const Point& point) {
  Headline out{"system_tps", "system_tps", "output throughput", "–", "", ""};
  if (!point.rates.tps) {
    out.doubt = point.tokens.contradicted > 0 ? "no token count that can be believed"
                                              : "no token counts from the server";
    return out;
  }
  out.value = three_digits(*point.rates.tps);
  out.unit = "tok/s";
  if (point.tokens.contradicted > 0) {
    out.doubt = format("{} of {} replies contradict the server's count",
                       count_text(point.tokens.contradicted), count_text(point.counts.completed));
  } else if (point.tokens.replies_uncounted > 0) {
    out.doubt = format("{} of {} replies said no count", count_text(point.tokens.replies_uncounted),
                       count_text(point.counts.completed));
  } else if (!point.complete()) {
    out.doubt = "of a run that was cut short";
  }
  return out;
}

Headline user_headline(const Point& point) {
  Headline out{"tps_per_user", "tps_per_user", "speed for one user", "–", "", ""};
  if (!point.rates.tps_per_user) {
    out.doubt = "no TPOT to take it from";
    return out;
  }
  out.value = three_digits(*point.rates.tps_per_user);
  out.unit = "tok/s";
  const metrics::Tokens& tokens = point.tokens;
  if (tokens.replies_by[static_cast<std::size_t>(metrics::TokenBasis::fragments)] > 0) {
    out.doubt = "fragments taken for tokens";
  }
  if (tokens.first_fragment_taken_for_one && tokens.per_fragment.value_or(1) > 1.05) {
    out.doubt = format("fragments hold {} tokens", three_digits(*tokens.per_fragment));
  }
  if (!point.run.simulated && metrics::in_bursts(point)) out.doubt = "tokens came in bursts";
  return out;
}

// "688 ms" -> value and unit.
void set_quantity(Headline& headline, const std::string& text) {
  const std::size_t space = text.rfind(' ');
  headline.value = text.substr(0, space);
  headline.unit = space == std::string::npos ? "" : text.substr(space + 1);
}

// For a kind of API without tokens: its unit, queries, and the latency of a reply.
Headline units_headline(const Point& point) {
  const std::string label = point.units.of_sound ? "audio" : point.units.name + "s";
  Headline out{"units_per_second", label, "throughput", "–", "", ""};
  if (!point.units.per_second) return out;
  out.value = three_digits(*point.units.per_second);
  out.unit = point.units.of_sound ? "audio s/s" : point.units.name + "s/s";
  if (!point.complete()) out.doubt = "of a run that was cut short";
  return out;
}

// Sound: when it begins, and whether it comes as fast as it plays.
Headline first_audio_headline(const Point& point) {
  Headline out{
      "first_audio_p90", "first audio P90", "first sound, nine in ten within", "–", "", ""};
  const Distribution& first = point.audio.first;
  if (first.empty()) {
    out.doubt = point.counts.completed > 0 ? "the endpoint did not stream" : "no streamed reply";
    return out;
  }
  set_quantity(out, quantity_text(Quantity::duration, first.percentile(90.0)));
  if (first.count < values_needed(90.0)) {
    out.doubt = format("of {} values only", count_text(first.count));
  }
  return out;
}

Headline speed_headline(const Point& point) {
  Headline out{"audio_speed_p10",
               "speed P10",
               "sound a second of latency, nine in ten at least",
               "–",
               "",
               ""};
  const metrics::Audio& audio = point.audio;
  if (audio.speed.empty()) {
    if (audio.of_unknown_length > 0) out.doubt = "only a decoder knows how long this sound is";
    return out;
  }
  set_quantity(out, quantity_text(Quantity::times, audio.speed.percentile(10.0)));
  if (audio.waited > 0) {
    out.doubt =
        format("{} of {} players had to wait", count_text(audio.waited), count_text(audio.played));
  }
  return out;
}

Headline queries_headline(const Point& point) {
  Headline out{"qps", "queries", "replies that succeeded", "–", "", ""};
  if (point.rates.duration.ns > 0) {
    out.value = three_digits(point.rates.qps);
    out.unit = "queries/s";
  }
  return out;
}

Headline latency_headline(const Point& point) {
  Headline out{"latency_p90", "latency P90", "reply complete, nine in ten within", "–", "", ""};
  const Distribution& latency = point.arrival.latency;
  if (latency.empty()) return out;
  set_quantity(out, quantity_text(Quantity::duration, latency.percentile(90.0)));
  if (latency.count < values_needed(90.0)) {
    out.doubt = format("of {} values only", count_text(latency.count));
  }
  return out;
}

Headline ttft_headline(const Point& point) {
  Headline out{"ttft_p90", "TTFT P90", "first token, nine in ten within", "–", "", ""};
  const Distribution& ttft = point.arrival.ttft;
  if (ttft.empty()) {
    const bool whole = point.tokens.not_streamed > 0;
    out.doubt = whole                     ? "the endpoint did not stream"
                : point.stamps.events > 0 ? "streams without a token"
                                          : "no streamed reply";
    return out;
  }
  const double p90 = ttft.percentile(90.0);
  set_quantity(out, quantity_text(Quantity::duration, p90));
  if (ttft.count < values_needed(90.0)) {
    out.doubt = format("of {} values only", count_text(ttft.count));
  }
  const Distribution& due = point.arrival.ttft_due;
  if (open_loop(point) && !due.empty() && due.percentile(90.0) > 1.05 * p90) {
    // Coordinated omission, stated beside the number.
    out.doubt += format("{}{} from due", out.doubt.empty() ? "" : "; ",
                        quantity_text(Quantity::duration, due.percentile(90.0)));
  }
  return out;
}

Headline failed_headline(const Point& point) {
  Headline out{"failed",
               "failed",
               "failed queries",
               count_text(point.counts.failed),
               "of " + count_text(point.counts.issued),
               ""};
  if (point.counts.failed > 0 && point.counts.issued > 0) {
    out.doubt = share_text(static_cast<double>(point.counts.failed) /
                           static_cast<double>(point.counts.issued));
  }
  if (point.counts.unfinished > 0) {
    out.doubt += format("{}{} in flight at the end", out.doubt.empty() ? "" : ", ",
                        count_text(point.counts.unfinished));
  }
  return out;
}

// The steady window where it is the result.
const metrics::SteadyState* window_words(const Point& point) {
  return point.steady && point.steady->official() ? &*point.steady : nullptr;
}

// Adds the official window's figures beside the whole run's.
void add_official(const Point& point, std::array<Headline, 4>& headlines) {
  const metrics::SteadyState* const window = window_words(point);
  if (window == nullptr) return;
  const auto add = [](Headline& headline, const std::string& text) {
    headline.doubt += (headline.doubt.empty() ? "official: " : "; official: ") + text;
  };
  if (!point.units.name.empty()) {
    if (window->units_per_s) add(headlines[0], three_digits(*window->units_per_s));
    add(headlines[1], three_digits(window->qps));
    if (!window->latency.empty()) {
      add(headlines[2], quantity_text(Quantity::duration, window->latency.percentile(90.0)));
    }
    return;
  }
  if (window->tps) add(headlines[0], three_digits(*window->tps));
  if (window->tps_per_user) add(headlines[1], three_digits(*window->tps_per_user));
  if (!window->ttft.empty()) {
    add(headlines[2], quantity_text(Quantity::duration, window->ttft.percentile(90.0)));
  }
}

bool same(const Distribution& a, const Distribution& b) {
  return a.count == b.count && a.percentiles == b.percentiles && a.max == b.max;
}

std::vector<DistributionRow> distribution_rows(const Point& point) {
  const metrics::Latencies& l = point.arrival;
  const bool due = open_loop(point);
  std::vector<DistributionRow> rows;
  const auto add = [&rows](std::string_view name, std::string_view about, const Distribution& d,
                           bool part = false, Quantity quantity = Quantity::duration) {
    if (!d.empty()) rows.push_back({std::string(name), std::string(about), &d, quantity, part});
  };
  add("TTFT", "request sent to first token", l.ttft);
  if (due) add("from due", "the same from when the plan wanted it sent", l.ttft_due, true);
  if (!same(l.ttft, l.ttft_visible)) {
    add("visible", "request sent to the first token a person can read", l.ttft_visible, true);
  }
  add("TPOT", "time per output token after the first", l.tpot);
  add("ITL", "gap between two fragments of a reply", l.itl);
  const metrics::Audio& audio = point.audio;
  add("first audio", "request sent to the first sound", audio.first);
  if (due) add("from due", "the same from when the plan wanted it sent", audio.first_due, true);
  add("speed", "seconds of sound a second of latency", audio.speed, false, Quantity::times);
  add("waits", "of a player that begins at once, of each that had to wait", audio.waits);
  add("latency", "request sent to reply complete", l.latency);
  if (due) add("from due", "the same from when the plan wanted it sent", l.latency_due, true);
  add("ISL", "input tokens of a query", point.isl, false, Quantity::count);
  add("OSL", "output tokens of a reply", point.osl, false, Quantity::count);
  return rows;
}

std::string client_warning(const audit::InnocenceReason& reason) {
  std::string out = reason.weight == audit::ClientLimited::yes
                        ? "the client was the bottleneck: "
                        : "the client may have been the bottleneck: ";
  out += reason.what;
  if (!reason.advice.empty()) out += ". Try: " + reason.advice;
  return out;
}

std::string verdict(const Point& point, const Content& content, const RunContext& context) {
  const metrics::Counts& counts = point.counts;
  std::string out;
  if (!point.complete()) {
    out = point.end.out_of_space                 ? "Out of disk space"
          : point.end.state == RunState::crashed ? "Cut off"
                                                 : "Interrupted";
    if (point.rates.duration.ns > 0) out += " after " + human_duration(point.rates.duration);
    out += ": ";
  }
  if (counts.issued == 0) {
    const metrics::Counts& all = point.all_phases;
    if (all.issued == 0) return out + "no query was sent";
    return out + format("no performance was measured; {} of {} other queries succeeded",
                        count_text(all.completed), count_text(all.issued));
  }
  if (counts.completed == 0) {
    return out + format("no reply succeeded: all {} queries failed", count_text(counts.issued));
  }
  const Headline& tps = content.headlines[0];
  const Headline& user = content.headlines[1];
  const Headline& ttft = content.headlines[2];
  if (point.units.of_sound && !point.units.per_second) {
    out += format("{} replies a second, of sound whose length is not known",
                  three_digits(point.rates.qps));
  } else if (!point.units.name.empty()) {
    out += format("{} {}", tps.value, tps.unit);
  } else if (point.rates.tps) {
    out += format("{} {}", tps.value, tps.unit);
    if (point.rates.tps_per_user) out += format(" at {} tok/s per user", user.value);
  } else {
    out += format("{} replies a second, tokens uncounted", three_digits(point.rates.qps));
  }
  if (point.units.of_sound && !point.audio.first.empty()) {
    out += format("; first audio P90 {} {}", user.value, user.unit);
  } else if (!point.arrival.ttft.empty()) {
    out += format("; TTFT P90 {} {}", ttft.value, ttft.unit);
    if (!point.audio.first.empty()) {
      out += "; first audio P90 " +
             quantity_text(Quantity::duration, point.audio.first.percentile(90.0));
    }
  } else {
    out += "; latency P90 " +
           quantity_text(Quantity::duration, point.arrival.latency.percentile(90.0));
  }
  const metrics::SteadyState* const window = window_words(point);
  if (window != nullptr && window->tps) {
    out += format("; official, of the steady window: {} tok/s", three_digits(*window->tps));
    if (window->tps_per_user) out += format(" at {} per user", three_digits(*window->tps_per_user));
  }
  if (window != nullptr && window->units_per_s) {
    out += format("; official, of the steady window: {} {}s/s", three_digits(*window->units_per_s),
                  point.units.name);
  }
  if (context.innocence) {
    const std::string text = innocence_text(*context.innocence);
    out += "; client " + text.substr(0, text.find(':'));
  }
  out += counts.failed == 0
             ? "; none failed"
             : format("; {} of {} failed", count_text(counts.failed), count_text(counts.issued));
  if (!content.warnings.empty()) {
    out += content.warnings.size() == 1 ? "; 1 warning"
                                        : format("; {} warnings", content.warnings.size());
  }
  return out;
}

std::vector<FailureRow> failure_rows(const Point& point) {
  std::vector<FailureRow> rows;
  for (const metrics::Failures& failures : point.failures) {
    FailureRow row;
    row.outcome = to_string(failures.outcome);
    row.about = outcome_about(failures.outcome);
    row.count = failures.count;
    row.share = point.counts.issued == 0 ? 0
                                         : static_cast<double>(failures.count) /
                                               static_cast<double>(point.counts.issued);
    if (!failures.examples.empty()) {
      const metrics::FailureExample& example = failures.examples.front();
      row.example = printable(example.detail);
      row.where =
          format("query {}, sample {}", count_text(example.query), count_text(example.sample));
      if (example.http_status != 0 && failures.outcome == Outcome::http_error) {
        row.where += format(", HTTP {}", example.http_status);
      }
      if (example.at.known()) {
        row.where += format(", {} into the run", clock_text(example.at - point.timeline.origin));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Fact> about_rows(const Point& point, const Content& content) {
  std::vector<Fact> rows;
  const auto add = [&rows](std::string_view name, std::string text) {
    if (!text.empty()) rows.push_back({std::string(name), std::move(text)});
  };
  const Json& facts = point.run.facts;
  add("model", printable(facts["model"].as_string()));
  for (const Json& endpoint : facts["endpoints"].items()) {
    add("endpoint", printable(endpoint.as_string()));
  }
  add("API", printable(facts["api"].as_string()));
  add("load", content.load);
  add(content.simulated ? "simulated" : "started",
      content.simulated ? "the target was modelled; nothing was sent" : content.when);
  add("measured for", human_duration(point.rates.duration));
  add("Assay", point.run.version + (point.run.git_sha.empty() ? "" : " " + point.run.git_sha));
  add("run", printable(point.run.run_id));
  add("plan digest", point.run.plan_digest);
  return rows;
}

// Request fields that we add by default, or that other servers spell differently.
constexpr std::array<std::string_view, 5> kOwnFields = {
    "ignore_eos", "min_tokens", "skip_special_tokens", "stream_options", "max_completion_tokens"};

// A server refused requests because of such a field, and named it. A null in extra_body leaves it
// out.
std::string without_refused_fields(const Point& point) {
  Json body = Json::object();
  for (const metrics::Failures& failures : point.failures) {
    for (const metrics::FailureExample& example : failures.examples) {
      if (example.http_status != 400 && example.http_status != 422) continue;
      for (const std::string_view field : kOwnFields) {
        if (example.detail.find(field) == std::string::npos) continue;
        body.set(std::string(field), Json(nullptr));
        if (field == "max_completion_tokens") body.set("max_tokens", 1024);
      }
    }
  }
  return body.size() == 0 ? std::string() : format("--extra-body '{}'", body.dump());
}

std::vector<NextStep> next_steps(const Point& point, const RunContext& context) {
  std::vector<NextStep> out;
  if (std::string without = without_refused_fields(point); !without.empty()) {
    out.push_back(
        {std::move(without),
         "add this: the endpoint refuses fields of the request, and null leaves them out"});
  }
  const Json& endpoints = point.run.facts["endpoints"];
  if (!point.run.simulated && point.counts.failed * 10 > point.counts.issued &&
      endpoints.size() > 0) {
    out.push_back({"assay probe " + printable(endpoints[0].as_string()),
                   "is the endpoint up, and is its stream sane?"});
  }
  const auto page = std::ranges::find_if(
      context.files, [](const ReportFile& file) { return file.path.ends_with("report.html"); });
  if (page != context.files.end()) {
    out.push_back(
        {printable(page->path), "open it in a browser: the curves, and the run over time"});
  } else if (!context.folder.empty()) {
    out.push_back({format("assay report {} --html report.html", printable(context.folder)),
                   "the curves, and the run over time"});
  }
  return out;
}

}  // namespace

Content make_content(const Point& point, const RunContext& context) {
  Content out;
  out.simulated = point.run.simulated;
  out.command = out.simulated ? "simulate" : "run";
  out.target = target_text(point.run.facts);
  out.load = load_text(point.run.facts);
  if (!out.simulated && point.run.started.ns > 0) out.when = second_text(point.run.started);
  for (const std::string& warning : point.warnings) out.warnings.push_back(printable(warning));
  if (!context.log_note.empty()) out.warnings.push_back(printable(context.log_note));
  if (context.innocence) {
    std::vector<std::string> reasons;
    for (const audit::InnocenceReason& reason : context.innocence->reasons) {
      reasons.push_back(printable(client_warning(reason)));
    }
    // First among the warnings, except for a full disk and failures, which lead the point's own.
    const std::size_t graver = std::min<std::size_t>(
        out.warnings.size(),
        (point.end.out_of_space ? 1U : 0U) + (metrics::failed_share(point).said() ? 1U : 0U));
    out.warnings.insert(out.warnings.begin() + static_cast<std::ptrdiff_t>(graver), reasons.begin(),
                        reasons.end());
  }
  if (point.units.name.empty()) {
    out.headlines = {throughput_headline(point), user_headline(point), ttft_headline(point),
                     failed_headline(point)};
  } else if (point.units.of_sound) {
    out.headlines = {units_headline(point), first_audio_headline(point), speed_headline(point),
                     failed_headline(point)};
  } else {
    out.headlines = {units_headline(point), queries_headline(point), latency_headline(point),
                     failed_headline(point)};
  }
  add_official(point, out.headlines);
  for (const Fact& fact : context.test) out.test.push_back({fact.name, printable(fact.text)});
  out.distributions = distribution_rows(point);
  out.basis = basis_facts(point, context);
  out.failures = failure_rows(point);
  out.about = about_rows(point, out);
  out.next = next_steps(point, context);
  out.verdict = verdict(point, out, context);
  return out;
}

std::string target_text(const Json& facts) {
  const std::string model = printable(facts["model"].as_string());
  const Json& endpoints = facts["endpoints"];
  std::string out = model;
  if (endpoints.size() > 0) {
    out += (model.empty() ? "" : " @ ") + printable(endpoints[0].as_string());
    if (endpoints.size() > 1) out += format(" and {} more", endpoints.size() - 1);
  }
  return out;
}

std::string load_text(const Json& facts) {
  const Json& pattern = facts["run_config"]["load_pattern"];
  const std::string type(pattern["type"].as_string());
  std::string out = printable(type);
  std::ranges::replace(out, '_', ' ');
  const Json& qps = pattern["target_qps"];
  const Json& concurrency = pattern["target_concurrency"];
  if (qps.is_number()) out += " " + three_digits(qps.as_double()) + "/s";
  if (concurrency.is_number()) {
    if (type == "concurrency") {
      out += " " + with_thousands(concurrency.as_int());
    } else {
      out += ", at most " + with_thousands(concurrency.as_int()) + " in flight";
    }
  }
  return out;
}

std::string path_in_folder(const RunContext& context, const ReportFile& file) {
  std::string_view path = file.path;
  if (!context.folder.empty() && path.starts_with(context.folder) &&
      path.substr(context.folder.size()).starts_with('/')) {
    path.remove_prefix(context.folder.size() + 1);
  }
  return printable(path);
}

std::string innocence_text(const audit::Innocence& innocence) {
  std::string out;
  switch (innocence.client_limited) {
    case audit::ClientLimited::no:
      return "innocent";
    case audit::ClientLimited::suspected:
      out = "may have been the bottleneck";
      break;
    case audit::ClientLimited::yes:
      out = "was the bottleneck";
      break;
  }
  for (const audit::InnocenceReason& reason : innocence.reasons) {
    out += (&reason == &innocence.reasons.front() ? ": " : "; ") + printable(reason.what);
  }
  return out;
}

std::uint64_t values_needed(double percentile) {
  // One value above the estimate, and as many below it as least_below requires.
  return metrics::least_below(percentile / 100, 1) + 1;
}

std::string value_cell(const DistributionRow& row, double value) {
  if (row.series->empty()) return "–";
  return quantity_text(row.quantity, value);
}

bool few_values(const DistributionRow& row, double percentile) {
  return row.quantity == Quantity::duration && row.series->count < values_needed(percentile);
}

std::string percentile_cell(const DistributionRow& row, double percentile) {
  if (row.series->empty()) return "–";
  return (few_values(row, percentile) ? "~" : "") +
         value_cell(row, row.series->percentile(percentile));
}

bool has_few_values(const Content& content) {
  return std::ranges::any_of(content.distributions, [](const DistributionRow& row) {
    return few_values(row, kShownPercentiles.back());
  });
}

std::string percentile_name(double percentile) { return format("P{}", percentile); }

std::string_view outcome_about(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "succeeded";
    case Outcome::connect_failed:
      return "no connection: refused, unreachable or no such host";
    case Outcome::tls_failed:
      return "the TLS handshake or the certificate failed";
    case Outcome::reset:
      return "the server reset the connection";
    case Outcome::truncated:
      return "the reply ended before it was complete";
    case Outcome::http_error:
      return "an HTTP status other than 200";
    case Outcome::stream_error:
      return "the server sent an error inside the stream";
    case Outcome::bad_reply:
      return "bytes that are not a reply of this API";
    case Outcome::timed_out:
      return "no complete reply within the query's time limit";
    case Outcome::cancelled:
      return "given up by us: an interrupt, the drain's time limit, or a turn before it that "
             "failed";
    case Outcome::over_memory:
      return "its reply would have gone over the memory budget (--memory-max)";
  }
  CHECK(false && "no such Outcome");
  return {};
}

}  // namespace assay::report
