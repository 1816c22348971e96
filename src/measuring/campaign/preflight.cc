#include "campaign/preflight.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "plan/unasked_fields.h"
#include "protocol/http_target.h"
#include "run/guard.h"

namespace assay::campaign {
namespace {

// So long a stream that has begun may take to its end, so that a server with short replies sees a
// whole query; a fast endpoint's load begins no later for it.
constexpr Duration kLinger = 150_ms;
constexpr Duration kAnswerMax = 60_s;
constexpr Duration kLookForStop = 50_ms;
constexpr Duration kTlsMax = 3_s;

class Heard final : public EventSink {
 public:
  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query&, Instant, Instant) override {}
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {
    answer.began = true;
  }
  void on_done(const Event& event, std::string_view detail) override {
    done = true;
    // What we cut off ourselves, after its stream had begun, was answered.
    const bool cut = event.outcome == Outcome::cancelled && answer.began;
    answer.outcome = cut ? Outcome::ok : event.outcome;
    answer.http_status = event.http_status;
    answer.detail = detail;
  }
  void on_tick(Instant) override {}

  TestAnswer answer{};
  bool done = false;
};

// The row with which the plan begins.
Sample first_sample(const plan::PlanBundle& bundle) {
  const PhasePlan& phase = bundle.plan.phases.front();
  const Dataset& dataset = bundle.datasets[phase.dataset].dataset;
  const std::uint32_t row = phase.replay ? phase.conversations.front().turns.front().sample
                                         : QueryStream(phase, 0, 0, 1).next().sample;
  Sample room;
  return dataset.row(row, room);
}

Plan plan_of_one(bool salted) {
  PhasePlan phase;
  phase.name = "test query";
  phase.order = SampleOrder::constant(0);
  phase.salted = salted;
  phase.stop.queries_max = 1;
  Plan out;
  out.phases.push_back(std::move(phase));
  return out;
}

class Asker {
 public:
  Asker(const plan::PlanBundle& bundle, const std::string& ca_file, const run::Control& control)
      : endpoints_(bundle.endpoints), control_(control) {
    const PlannedDataset& asked = bundle.datasets[bundle.plan.phases.front().dataset];
    one_.datasets.push_back({.generation = asked.generation});
    one_.datasets.front().dataset.samples.push_back(first_sample(bundle));
    options_.connections_max = 1;
    options_.ca_file = ca_file;
    options_.run_key = xxh3(format("test query {}", wall_now().ns));
  }

  Result<TestAnswer> ask(const std::vector<std::string>& left_out) {
    plan::PlanBundle one = one_;
    plan::leave_out(left_out, one);
    ASSIGN_OR_RETURN(const auto target, make_target(one));
    TRY(target->connect_ahead(1));
    return answer_of(*target, one.plan.phases.front());
  }

  // Some servers close a connection whose first bytes are no TLS, without a word.
  bool speaks_tls() {
    const std::string& url = endpoints_.urls.front();
    if (!url.starts_with("http://")) return false;
    Endpoints tls = endpoints_;
    tls.urls = {"https" + url.substr(std::string_view("http").size())};
    tls.insecure = true;
    tls.connect_timeout = kTlsMax;
    one_.plan = plan_of_one(false);
    const auto target =
        protocol::HttpTarget::create(one_.plan, one_.datasets, tls, options_, clock_);
    return target && (*target)->connect_ahead(1);
  }

 private:
  // Token ids have no salt that every vocabulary knows, and some messages have no place for one.
  Result<std::unique_ptr<protocol::HttpTarget>> make_target(plan::PlanBundle& one) {
    const Sample& sample = one.datasets.front().dataset.samples.front();
    if (sample.input_tokens.empty()) {
      one.plan = plan_of_one(true);
      auto salted =
          protocol::HttpTarget::create(one.plan, one.datasets, endpoints_, options_, clock_);
      if (salted) return salted;
    }
    one.plan = plan_of_one(false);
    return protocol::HttpTarget::create(one.plan, one.datasets, endpoints_, options_, clock_);
  }

  TestAnswer answer_of(protocol::HttpTarget& target, const PhasePlan& phase) {
    Heard heard;
    const Instant sent = clock_.now();
    target.submit(QueryStream(phase, 0, 0, 1).next(), sent, heard);
    Instant limit = sent + kAnswerMax;
    while (!heard.done && control_.request() == run::Control::Request::none) {
      if (heard.answer.began) limit = std::min(limit, std::max(sent + kLinger, clock_.now()));
      const Instant now = clock_.now();
      if (now >= limit) break;
      target.poll(std::min(limit, now + kLookForStop), heard);
    }
    if (!heard.done) target.cancel_all(heard);
    return heard.answer;
  }

  const Endpoints& endpoints_;
  const run::Control& control_;
  plan::PlanBundle one_{};
  protocol::HttpTargetOptions options_{};
  OsClock clock_{};
};

bool says(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// Of one row, not of all.
bool is_too_long(const std::string& detail) {
  const std::string text = lower(detail);
  return says(text, "context length") || says(text, "too long") || says(text, "maximum context") ||
         says(text, "max_model_len") || says(text, "context window");
}

std::string advice_of(const TestAnswer& answer, const Endpoints& endpoints) {
  const bool keyed = !endpoints.api_key.empty() || !endpoints.headers.empty();
  switch (answer.http_status) {
    case 401:
    case 403:
      return keyed ? "it does not take this key: another by --api-key-env NAME"
                   : "it wants a key: --api-key-env NAME, the variable that holds it";
    case 402:
      return "the account behind this key has nothing left to spend";
    case 404:
    case 405:
    case 410:
    case 501:
      return says(lower(answer.detail), "model")
                 ? format("--model: `assay probe {}` says which models it has", endpoints.urls[0])
                 : format("--endpoint, --api-type: `assay probe {}` says what is spoken there",
                          endpoints.urls[0]);
    case 400:
    case 415:
    case 422:
      return "--extra-body '{\"FIELD\": null}' leaves a field out of every request, and a value "
             "sets it";
    default:
      return "it is elsewhere: name the place itself by --endpoint";
  }
}

}  // namespace

std::vector<std::string> refused_fields(const TestAnswer& answer,
                                        const std::vector<std::string>& fields) {
  std::vector<std::string> out;
  if (answer.http_status != 400 && answer.http_status != 422) return out;
  for (const std::string& field : fields) {
    if (says(answer.detail, field)) out.push_back(field);
  }
  return out;
}

std::optional<Error> refusal_of(const TestAnswer& answer, const Endpoints& endpoints) {
  constexpr std::string_view kWithout = "\n  --no-preflight begins the load without a test query";
  // Of another protocol the words say what to change.
  if (answer.outcome == Outcome::bad_reply && says(answer.detail, "this port speaks")) {
    return Error{Code::refused, format("the test query: {}", answer.detail)};
  }
  Event event;
  event.outcome = answer.outcome;
  event.http_status = static_cast<std::uint16_t>(answer.http_status);
  if (!run::is_fatal(event)) return std::nullopt;
  if (answer.outcome != Outcome::http_error) {
    return Error{Code::refused, format("the test query: {}", answer.detail)};
  }
  if (answer.http_status == 400 && is_too_long(answer.detail)) return std::nullopt;
  const std::string status = format("HTTP {}", answer.http_status);
  const std::string words = answer.detail.starts_with(status) || answer.detail.empty()
                                ? answer.detail
                                : status + ": " + answer.detail;
  return invalid(format("the test query got {}\n  {}{}", words.empty() ? status : words,
                        advice_of(answer, endpoints), kWithout));
}

Result<Preflight> send_test_query(const plan::Config& config, const plan::PlanBundle& bundle,
                                  const std::string& ca_file, const run::Control& control) {
  const std::vector<std::string> fields = plan::unasked_fields(config);
  const OsClock clock;
  const Instant began = clock.now();
  Asker asker(bundle, ca_file, control);
  Preflight out{.sent = true};
  TestAnswer answer;
  // A server may name one field at a time.
  for (std::size_t i = 0; i <= fields.size(); ++i) {
    ASSIGN_OR_RETURN(answer, asker.ask(out.left_out));
    bool more = false;
    for (const std::string& field : refused_fields(answer, fields)) {
      if (std::ranges::find(out.left_out, field) != out.left_out.end()) continue;
      out.left_out.push_back(field);
      more = true;
    }
    if (!more) break;
  }
  const bool closed = answer.outcome == Outcome::truncated || answer.outcome == Outcome::reset;
  if (closed && !answer.began && answer.http_status == 0 && asker.speaks_tls()) {
    answer.outcome = Outcome::bad_reply;
    answer.detail = "this port speaks TLS: https:// in place of http://";
  }
  if (const auto refused = refusal_of(answer, bundle.endpoints)) return *refused;
  Json left_out = Json::array();
  for (const std::string& field : out.left_out) left_out.push_back(field);
  out.facts = Json()
                  .set("outcome", to_string(answer.outcome))
                  .set("http_status", answer.http_status)
                  .set("detail", answer.detail)
                  .set("took_ms", (clock.now() - began).ms())
                  .set("left_out", std::move(left_out));
  return out;
}

}  // namespace assay::campaign
