#include "campaign/preflight.h"

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/quiet_sink.h"
#include "plan/saved_config.h"
#include "plan/unasked_fields.h"
#include "plug/plug_target.h"
#include "protocol/http_target.h"
#include "run/guard.h"

namespace assay::campaign {
namespace {

// The longest wait for the end of a stream that has begun: a server with short replies gets a whole
// query, and the load for a fast endpoint starts no later.
constexpr Duration kLinger = 150_ms;
constexpr Duration kAnswerMax = 60_s;
constexpr Duration kLookForStop = 50_ms;
constexpr Duration kTlsMax = 3_s;

// Each endpoint's answer; the query's phase is the endpoint's number.
class Heard final : public QuietSink {
 public:
  explicit Heard(std::size_t endpoints) : answers(endpoints) {}

  void on_stream_event(const Query& query, const StreamEvent&, std::string_view) override {
    answers[query.phase].began = true;
  }
  void on_done(const Event& event, std::string_view detail) override {
    ++done;
    // A stream that we cancelled after it had begun counts as answered.
    TestAnswer& answer = answers[event.query.phase];
    const bool cut = event.outcome == Outcome::cancelled && answer.began;
    answer.outcome = cut ? Outcome::ok : event.outcome;
    answer.http_status = event.http_status;
    answer.detail = detail;
    answer.ended = true;
  }

  // Whether each stream has begun or each reply has ended.
  bool all_began() const {
    return std::ranges::all_of(answers, [](const TestAnswer& a) { return a.began || a.ended; });
  }

  std::vector<TestAnswer> answers;
  std::size_t done = 0;
};

// The first row of the plan.
Sample first_sample(const plan::PlanBundle& bundle) {
  const PhasePlan& phase = bundle.plan.phases.front();
  const Dataset& dataset = bundle.datasets[phase.dataset].dataset;
  const std::uint32_t row = phase.replay ? phase.conversations.front().turns.front().sample
                                         : QueryStream(phase, 0, 0, 1).next().sample;
  Sample room;
  return dataset.row(row, room);
}

// A query with one row for each endpoint.
Plan plan_of_one(bool salted, std::size_t endpoints) {
  PhasePlan phase;
  phase.name = "test query";
  phase.order = SampleOrder::constant(0);
  phase.salted = salted;
  phase.stop.queries_max = 1;
  Plan out;
  out.phases.assign(endpoints, phase);
  return out;
}

class Asker {
 public:
  Asker(const plan::PlanBundle& bundle, const std::string& ca_file, const run::Control& control)
      : endpoints_(bundle.endpoints), control_(control) {
    const PlannedDataset& asked = bundle.datasets[bundle.plan.phases.front().dataset];
    one_.datasets.push_back({.generation = asked.generation});
    one_.datasets.front().dataset.samples.push_back(first_sample(bundle));
    options_.connections_max = static_cast<std::uint32_t>(endpoints_.urls.size());
    options_.ca_file = ca_file;
    options_.run_key = xxh3(format("test query {}", wall_now().ns));
    for (std::size_t e = 0; e < endpoints_.urls.size(); ++e) {
      options_.endpoint_of_phase.push_back(static_cast<std::uint16_t>(e));
    }
  }

  // The answers of all endpoints.
  Result<std::vector<TestAnswer>> ask(const plan::Adaptation& adaptation) {
    plan::PlanBundle one = one_;
    plan::adapt(adaptation, one);
    ASSIGN_OR_RETURN(const auto target, make_target(one));
    TRY(target->connect_ahead(options_.connections_max));
    return answers_of(*target, one.plan);
  }

  // Some servers close a connection silently if its first bytes are not TLS.
  bool speaks_tls(std::size_t endpoint) {
    const std::string& url = endpoints_.urls[endpoint];
    if (!url.starts_with("http://")) return false;
    Endpoints tls = endpoints_;
    tls.urls = {"https" + url.substr(std::string_view("http").size())};
    tls.insecure = true;
    tls.connect_timeout = kTlsMax;
    one_.plan = plan_of_one(false, 1);
    protocol::HttpTargetOptions options = options_;
    options.endpoint_of_phase.clear();
    const auto target =
        protocol::HttpTarget::create(one_.plan, one_.datasets, tls, options, clock_);
    return target && (*target)->connect_ahead(1);
  }

 private:
  // No salt for token ids fits every vocabulary, and some messages have no place for one.
  Result<std::unique_ptr<protocol::HttpTarget>> make_target(plan::PlanBundle& one) {
    const Sample& sample = one.datasets.front().dataset.samples.front();
    if (sample.input_tokens.empty()) {
      one.plan = plan_of_one(true, endpoints_.urls.size());
      auto salted =
          protocol::HttpTarget::create(one.plan, one.datasets, endpoints_, options_, clock_);
      if (salted) return salted;
    }
    one.plan = plan_of_one(false, endpoints_.urls.size());
    return protocol::HttpTarget::create(one.plan, one.datasets, endpoints_, options_, clock_);
  }

  std::vector<TestAnswer> answers_of(protocol::HttpTarget& target, const Plan& plan) {
    const std::size_t endpoints = endpoints_.urls.size();
    Heard heard(endpoints);
    const Instant sent = clock_.now();
    for (std::size_t e = 0; e < endpoints; ++e) {
      const auto phase = static_cast<std::uint16_t>(e);
      target.submit(QueryStream(plan.phases[e], phase, 0, 1).next(), sent, heard);
    }
    Instant limit = sent + kAnswerMax;
    while (heard.done < endpoints && control_.request() == run::Control::Request::none) {
      if (heard.all_began()) limit = std::min(limit, std::max(sent + kLinger, clock_.now()));
      const Instant now = clock_.now();
      if (now >= limit) break;
      target.poll(std::min(limit, now + kLookForStop), heard);
    }
    if (heard.done < endpoints) target.cancel_all(heard);
    return heard.answers;
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

// Whether this one row is too long; others may fit.
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
  // If the port speaks another protocol, the detail already says what to change.
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

bool refuses_limit(const TestAnswer& answer, std::string_view field) {
  if (field.empty() || (answer.http_status != 400 && answer.http_status != 422)) return false;
  const std::string text = lower(answer.detail);
  // A refusal of the value: under the other name, the server might ignore the limit.
  for (const char* of_value : {"too large", "too small", "at most", "at least", "maximum", "exceed",
                               "greater than", "less than", "must be", "range"}) {
    if (says(text, of_value)) return false;
  }
  return says(text, field) && !is_too_long(answer.detail);
}

Json preflight_of(const Json& facts, std::size_t endpoint) {
  Json out = facts;
  const Json& own = facts["endpoints"][endpoint];
  for (const char* key : {"outcome", "http_status", "detail"}) {
    if (!own.is_null()) out.set(key, own[key]);
  }
  out.erase("endpoints");
  return out;
}

namespace {

// Repeats the query until the endpoint refuses no optional field.
class Fitting {
 public:
  Fitting(const plan::Config& config, Asker& asker)
      : fields_(plan::unasked_fields(config)),
        own_(own_limit_field(config.endpoint_config.api_type)),
        other_(plan::other_limit_field(config)),
        asker_(asker) {}

  Result<void> find() {
    // A server may name one field at a time.
    for (std::size_t i = 0; i <= fields_.size() + 1; ++i) {
      ASSIGN_OR_RETURN(answers, asker_.ask(adaptation));
      if (!learn()) break;
    }
    // Both names are refused: the user should read the message about the API's own name.
    const auto refuses_other = [this](const TestAnswer& a) { return refuses_limit(a, other_); };
    if (!adaptation.limit_field.empty() && std::ranges::any_of(answers, refuses_other)) {
      answers = before_;
      adaptation.limit_field.clear();
    }
    return {};
  }

  std::vector<TestAnswer> answers{};
  plan::Adaptation adaptation{};

 private:
  bool learn() {
    bool more = false;
    for (const TestAnswer& answer : answers) {
      for (const std::string& field : refused_fields(answer, fields_)) {
        if (std::ranges::count(adaptation.left_out, field) > 0) continue;
        adaptation.left_out.push_back(field);
        more = true;
      }
      const bool tried = !adaptation.limit_field.empty();
      if (!tried && !other_.empty() && refuses_limit(answer, own_)) {
        adaptation.limit_field = other_;
        before_ = answers;
        more = true;
      }
    }
    return more;
  }

  std::vector<std::string> fields_;
  std::string own_;
  std::string other_;
  std::vector<TestAnswer> before_{};
  Asker& asker_;
};

Json preflight_facts(const std::vector<TestAnswer>& answers, const Endpoints& endpoints) {
  const auto of_one = [](const TestAnswer& answer) {
    return Json()
        .set("outcome", to_string(answer.outcome))
        .set("http_status", answer.http_status)
        .set("detail", answer.detail);
  };
  const auto failed = std::ranges::find_if(
      answers, [](const TestAnswer& answer) { return answer.outcome != Outcome::ok; });
  Json out = of_one(failed == answers.end() ? answers.front() : *failed);
  if (answers.size() == 1) return out;
  Json each = Json::array();
  for (std::size_t e = 0; e < answers.size(); ++e) {
    Json one = Json().set("endpoint", plan::redact_url(endpoints.urls[e]));
    const Json answer = of_one(answers[e]);
    for (const auto& [key, value] : answer.members()) one.set(key, value);
    each.push_back(std::move(one));
  }
  return out.set("endpoints", std::move(each));
}

// Names the endpoint if there are several.
Error named(Error error, const Endpoints& endpoints, std::size_t endpoint) {
  if (endpoints.urls.size() == 1) return error;
  return error.within(plan::redact_url(endpoints.urls[endpoint]));
}

}  // namespace

Result<Preflight> send_test_query(const plan::Config& config, const plan::PlanBundle& bundle,
                                  const std::string& ca_file, const run::Control& control) {
  // A program says that it is ready when it is started.
  if (plug::is_program(bundle.endpoints)) return Preflight{};
  const OsClock clock;
  const Instant began = clock.now();
  Asker asker(bundle, ca_file, control);
  Fitting fitting(config, asker);
  TRY(fitting.find());
  for (std::size_t e = 0; e < fitting.answers.size(); ++e) {
    TestAnswer& answer = fitting.answers[e];
    const bool closed = answer.outcome == Outcome::truncated || answer.outcome == Outcome::reset;
    if (closed && !answer.began && answer.http_status == 0 && asker.speaks_tls(e)) {
      answer.outcome = Outcome::bad_reply;
      answer.detail = "this port speaks TLS: https:// in place of http://";
    }
    Endpoints of_one = bundle.endpoints;
    of_one.urls = {bundle.endpoints.urls[e]};
    if (auto refused = refusal_of(answer, of_one)) {
      return named(*std::move(refused), bundle.endpoints, e);
    }
  }
  Preflight out{.sent = true, .adaptation = std::move(fitting.adaptation)};
  Json left_out = Json::array();
  for (const std::string& field : out.adaptation.left_out) left_out.push_back(field);
  out.facts = preflight_facts(fitting.answers, bundle.endpoints);
  out.facts.set("took_ms", (clock.now() - began).ms()).set("left_out", std::move(left_out));
  if (!out.adaptation.limit_field.empty()) {
    out.facts.set("limit_field", out.adaptation.limit_field);
  }
  return out;
}

}  // namespace assay::campaign
