#include "report/basis.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::report {
namespace {

using metrics::Point;

std::string time_text(double ns) { return quantity_text(Quantity::duration, ns); }

double part(std::uint64_t of, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(of) / static_cast<double>(all);
}

std::string run_text(const Point& point) {
  if (point.rates.duration.ns == 0) return "nothing was measured";
  std::string out = format("{}: {} issued = {} completed + {} failed",
                           human_duration(point.rates.duration), count_text(point.counts.issued),
                           count_text(point.counts.completed), count_text(point.counts.failed));
  if (point.all_phases.issued > point.counts.issued) {
    out += format("; {} more outside it, not measured",
                  count_text(point.all_phases.issued - point.counts.issued));
  }
  return out;
}

// Whether there is a steady stretch; its figures too where it is the result, because the headlines
// cover the whole run.
std::string steady_text(const Point& point) {
  if (!point.steady || point.counts.completed == 0) return {};
  const metrics::SteadyState& steady = *point.steady;
  std::string out = metrics::steady_state_text(steady);
  if (!steady.official()) return out;
  out += ". In this window";
  if (steady.tps) out += format(" {} tok/s,", three_digits(*steady.tps));
  if (steady.units_per_s) {
    out += format(" {} {}s/s,", three_digits(*steady.units_per_s), steady.unit);
  }
  if (steady.tps_per_user) out += format(" {} tok/s per user,", three_digits(*steady.tps_per_user));
  const auto add = [&out](std::string_view name, const metrics::Distribution& series) {
    if (!series.empty()) out += format(" {} P90 {},", name, time_text(series.percentile(90.0)));
  };
  add("TTFT", steady.ttft);
  add("TPOT", steady.tpot);
  if (steady.by == metrics::Gating::latency) add("latency", steady.latency);
  return out + " which are the official figures";
}

std::string rates_text(const Point& point) {
  if (point.rates.duration.ns == 0) return {};
  std::string out;
  const metrics::Rates& rates = point.rates;
  if (rates.offered_qps) out += format("offered {}/s, ", three_digits(*rates.offered_qps));
  if (rates.achieved_qps) out += format("sent {}/s, ", three_digits(*rates.achieved_qps));
  return out + format("completed {}/s", three_digits(rates.qps));
}

// The tool that recorded an imported run: "aiperf"; else "".
std::string_view recorded_by(const Point& point) {
  const std::string_view format = point.run.facts["imported"]["format"].as_string();
  return format == "endpoints" ? "the reference client" : format;
}

// What another tool's recording does not have.
std::string lacks_text(const Point& point) {
  std::string out;
  for (const Json& lack : point.run.facts["imported"]["lacks"].items()) {
    out += format("{}{}", out.empty() ? "" : "; ", printable(lack.as_string()));
  }
  return out;
}

// "the server's usage in 90 replies, the fragments in 10 of 100 replies; figures are over those".
std::string mixed_text(const metrics::Tokens& tokens) {
  using metrics::TokenBasis;
  struct Word {
    TokenBasis basis;
    std::string_view name;
  };
  std::string out;
  for (const auto& [basis, name] :
       {Word{TokenBasis::usage, "the server's usage"}, Word{TokenBasis::tokenizer, "the tokenizer"},
        Word{TokenBasis::fragments, "the number of fragments"}}) {
    const std::uint64_t replies = tokens.replies_by[static_cast<std::size_t>(basis)];
    if (replies == 0) continue;
    out += format("{}{}, in {}", out.empty() ? "" : "; ", name, count_text(replies));
  }
  out += format(" of {} replies", count_text(tokens.replies_counted + tokens.replies_uncounted));
  return tokens.replies_uncounted > 0 ? out + "; figures are over those" : out;
}

// Counts beside the basis: the declared ones and the server's.
std::string beside_text(const metrics::Tokens& tokens) {
  std::string out;
  if (tokens.hidden > 0) {
    out += format("; {} more declared as reasoning that is not streamed",
                  with_thousands(tokens.hidden));
  }
  if (tokens.said_beside_tokenizer > 0 && tokens.tokenizer_beside_said > 0) {
    out += format("; the server says {} where the tokenizer counts {}",
                  with_thousands(tokens.said_beside_tokenizer),
                  with_thousands(tokens.tokenizer_beside_said));
  }
  if (tokens.contradicted > 0) {
    out += format("; in {} replies the server's count ({} in all) contradicts the reply",
                  count_text(tokens.contradicted), with_thousands(tokens.contradicted_said));
  }
  return out;
}

std::string source_text(const Point& point) {
  const metrics::Tokens& tokens = point.tokens;
  switch (tokens.source) {
    case metrics::TokenSource::unknown:
      return tokens.contradicted > 0
                 ? "no count can be believed: token figures are absent, not guessed"
                 : "no reply said how many tokens it has: token figures are absent, not guessed";
    case metrics::TokenSource::mixed:
      return mixed_text(tokens);
    case metrics::TokenSource::fragments:
      return format(
          "counted by fragments, each taken for one token, in all {} replies: the "
          "server's counts cannot be; {} out",
          count_text(tokens.replies_counted), with_thousands(tokens.output));
    case metrics::TokenSource::tokenizer:
      return format("{} counted {} of {} replies ({}): {} in, {} out",
                    tokens.tokenizer["tokenizer"].as_string("the model's tokenizer"),
                    count_text(tokens.replies_counted),
                    count_text(tokens.replies_counted + tokens.replies_uncounted),
                    tokens.tokenizer["output"].as_string(), with_thousands(tokens.prompt),
                    with_thousands(tokens.output));
    case metrics::TokenSource::usage:
      break;
  }
  const std::string_view tool = recorded_by(point);
  return format(
      "{}, in all {} replies: {} in, {} out",
      tool.empty() ? std::string("the server's usage") : format("as {} counted them", tool),
      count_text(tokens.replies_counted), with_thousands(tokens.prompt),
      with_thousands(tokens.output));
}

std::string tokens_text(const Point& point) {
  return source_text(point) + beside_text(point.tokens);
}

std::string fragments_text(const metrics::Tokens& tokens) {
  if (!tokens.per_fragment) return {};
  std::string out = format("{} tokens each", three_digits(*tokens.per_fragment));
  if (*tokens.per_fragment > 1.02) {
    out += ": ITL is the gap between bursts of tokens";
    if (tokens.first_fragment_taken_for_one) out += "; TPOT takes the first one for one token";
  }
  return out;
}

std::string arrivals_text(const metrics::Stamps& stamps) {
  if (stamps.events == 0) return "no reply was streamed";
  std::string out;
  if (stamps.kernel_stamped == 0) {
    return format(
        "when our reader held the bytes, for all {} events: no receive stamps from the "
        "kernel, so the client's own delay is in every latency",
        count_text(stamps.events));
  }
  if (stamps.kernel_stamped == stamps.events) {
    out = format("the kernel's receive stamps on all {} events", count_text(stamps.events));
  } else {
    out = format("the kernel's receive stamps on {} of {} events",
                 share_text(part(stamps.kernel_stamped, stamps.events)), count_text(stamps.events));
  }
  if (stamps.shares_read > 0) {
    out += format("; {} came together with a later one and are stamped with it",
                  share_text(part(stamps.shares_read, stamps.events)));
  }
  return out;
}

std::string delays_text(const Point& point) {
  std::string out;
  const auto add = [&out](std::string_view what, const metrics::Distribution& d) {
    if (d.empty()) return;
    out += format("{}{} P50 {}, P99 {}, worst {}", out.empty() ? "" : "; ", what,
                  time_text(d.percentile(50.0)), time_text(d.percentile(99.0)), time_text(d.max));
  };
  add("sends late", point.lateness);
  add("reads late", point.read_delay);
  return out;
}

// The bounds of each figure's true value. Shown only where they exceed a stamp's error.
std::string limits_text(const Point& point) {
  constexpr double kShown = 20'000;  // ns
  std::string out;
  bool known = false;
  const auto add = [&](std::string_view name, const metrics::Distribution& series) {
    if (!series.limits) return;
    known = true;
    for (std::size_t i = metrics::kEstimates; i-- > 0;) {
      const double p = metrics::kPercentiles[i];
      const metrics::Between& range = series.limits->percentiles[i];
      if ((p != 50 && p != 99) || range.width() < kShown) continue;
      out += format("{}{} P{:g} {} to {}", out.empty() ? "" : "; ", name, p, time_text(range.low),
                    time_text(range.high));
    }
  };
  add("TTFT", point.arrival.ttft);
  add("TPOT", point.arrival.tpot);
  add("ITL", point.arrival.itl);
  add("latency", point.arrival.latency);
  if (!known) return {};
  return out.empty() ? "the figures are exact to within 20 us" : "the truth lies within: " + out;
}

// The busiest thread, the worst lag and the CPU time of other processes. A figure that the system
// did not give is left out.
std::string audit_text(const ClientAudit& audit) {
  std::string out;
  const auto add = [&out](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  double busiest = -1;
  Duration lag{};
  Duration longest{};
  for (const ThreadFigures& thread : audit.threads) {
    busiest = std::max(busiest, thread.cpu_share);
    lag = std::max(lag, thread.loop.p99);
    longest = std::max(longest, thread.loop.max);
  }
  const bool shares = audit.wall.ns == 0 || audit.wall >= kShareTimeMin;
  if (shares && busiest >= 0) {
    add(format("{} of a core{}", share_text(busiest),
               audit.threads.size() > 1 ? format(" at most, on {} threads", audit.threads.size())
                                        : std::string()));
  }
  if (longest.ns > 0) {
    add(format("loop lag P99 {}, worst {}", human_duration(lag), human_duration(longest)));
  }
  if (shares && audit.foreign_cpu >= 0) {
    add(format("other programs used {} of {}", three_digits(audit.foreign_cpu),
               counted(audit.cores, "core")));
  }
  if (audit.canary.watched.ns > 0 && audit.canary.gap_max.ns > 0) {
    add("longest gap that no program took " + human_duration(audit.canary.gap_max));
  }
  return out;
}

// Only where the endpoint forces queries to open connections that could have been reused.
std::string connections_text(const Point& point, const ClientAudit& audit) {
  const std::uint64_t queries = point.all_phases.issued;
  std::string out;
  if (audit.connections_inside * 2 > queries && queries > 2 * audit.connections_peak) {
    out = format("the endpoint does not keep them open: {} new ones for {} queries",
                 count_text(audit.connections_inside), count_text(queries));
  }
  if (audit.queries_sent_again > 0) {
    out += format(
        "{}{} crossed with the end of one that was to be kept and went out again; their "
        "latency counts from the first try",
        out.empty() ? "" : "; ",
        audit.queries_sent_again == 1 ? std::string("one query")
                                      : count_text(audit.queries_sent_again) + " queries");
  }
  if (audit.queries_unprocessed > 0) {
    const bool one = audit.queries_unprocessed == 1;
    out += format(
        "{}the server left {} unprocessed (GOAWAY or REFUSED_STREAM) and {} sent again; latency "
        "counts from the first try",
        out.empty() ? "" : "; ",
        one ? std::string("one request") : count_text(audit.queries_unprocessed) + " requests",
        one ? "it was" : "they were");
  }
  return out;
}

std::string memory_text(const ClientAudit& audit) {
  if (audit.memory_bytes_max == 0) return {};
  return format("replies held {} of {} at most (--memory-max)",
                human_bytes(audit.memory_bytes_peak), human_bytes(audit.memory_bytes_max));
}

std::string legacy_text(const Point& point) {
  if (!point.rates.legacy_window || !point.rates.legacy_qps) return {};
  std::string out =
      format("its window of {}: {} queries/s", human_duration(*point.rates.legacy_window),
             three_digits(*point.rates.legacy_qps));
  if (point.rates.legacy_tps) out += format(", {} tok/s", three_digits(*point.rates.legacy_tps));
  return out;
}

std::string audio_text(const metrics::Audio& audio) {
  if (audio.replies == 0) return {};
  std::string out = format("{} in {} {}", human_bytes(audio.bytes), count_text(audio.replies),
                           audio.replies == 1 ? "reply" : "replies");
  if (audio.replies > audio.of_unknown_length) {
    out += format(", {} s of sound by its rate of samples", three_digits(audio.seconds));
  }
  if (audio.of_unknown_length > 0) {
    out += format("; the length of {} is not known, because it takes a decoder",
                  count_text(audio.of_unknown_length));
  }
  if (audio.played > 0) {
    out += format("; of {} players that begin with the first sound {} had to wait",
                  count_text(audio.played), count_text(audio.waited));
    if (audio.underruns > 0) out += format(", {} times", count_text(audio.underruns));
  }
  return out;
}

}  // namespace

std::vector<Fact> basis_facts(const Point& point, const RunContext& context) {
  std::vector<Fact> out;
  const auto add = [&out](std::string_view name, std::string text) {
    if (!text.empty()) out.push_back({std::string(name), std::move(text)});
  };
  add("run", run_text(point));
  add("steady", steady_text(point));
  add("queries", rates_text(point));
  if (point.units.name.empty()) {
    add("tokens", tokens_text(point));
  } else if (!point.units.of_sound) {
    add("units",
        format("{} {}s, as the queries that succeeded asked for them; this kind of API "
               "has no tokens of output",
               count_text(static_cast<std::uint64_t>(point.units.completed)), point.units.name));
  }
  add("audio", audio_text(point.audio));
  add("fragments", fragments_text(point.tokens));
  const std::string_view tool = recorded_by(point);
  add("arrivals", point.run.simulated ? "computed by the model"
                  : tool.empty()      ? arrivals_text(point.stamps)
                                      : format("as {} recorded them", tool));
  if (context.innocence) add("client", innocence_text(*context.innocence));
  add("not known", lacks_text(point));
  add("hosts", context.ranks);
  add("capacity", context.calibration);
  add("limits", limits_text(point));
  add("delays", point.run.simulated || !tool.empty() ? "" : delays_text(point));
  if (context.audit) add("connections", connections_text(point, *context.audit));
  if (context.audit) add("memory", memory_text(*context.audit));
  if (context.audit) add("machine", audit_text(*context.audit));
  for (const Fact& fact : context.observed) add(fact.name, fact.text);
  add("LoadGen", legacy_text(point));
  if (point.run.facts["insecure"].as_bool())
    add("TLS", "certificates were not checked (--insecure)");
  return out;
}

}  // namespace assay::report
