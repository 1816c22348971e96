#include "explorer/api.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "explorer/board.h"
#include "explorer/documents.h"
#include "explorer/head.h"

namespace assay::explorer {
namespace {

constexpr std::size_t kRemembered = 32;
constexpr std::size_t kRememberedBytes = 16U << 20;  // a larger reply is not cached

// The parameters of a request; the last value of a repeated name counts. Unknown names are ignored,
// so that a newer page works with an older server.
class Parameters {
 public:
  explicit Parameters(std::string_view target) {
    for (auto& [name, value] : query_of(target)) values_[name] = std::move(value);
  }
  std::string text(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::string() : found->second;
  }
  Result<double> number(std::string_view name, double fallback) const {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    const auto parsed = parse_double(value);
    if (!parsed || !(*parsed >= 0)) return invalid(format("{}: a number from 0", name));
    return *parsed;
  }
  Result<std::size_t> whole(std::string_view name, std::size_t fallback, std::size_t most) const {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    const auto parsed = parse_uint(value);
    if (!parsed || *parsed > most) {
      return invalid(format("{}: a whole number, at most {}", name, most));
    }
    return static_cast<std::size_t>(*parsed);
  }

 private:
  std::map<std::string, std::string, std::less<>> values_{};
};

ApiReply failed(const Error& error) {
  if (error.code == Code::invalid) return api_error(400, "invalid", error.message);
  return api_error(500, to_string(error.code), error.message);
}

rules::Actor actor_of(const Session& session) {
  return {std::string(to_string(session.role)), session.organisation};
}

ApiReply not_found(std::string_view what) { return api_error(404, "not_found", what); }

ApiReply reply_of(Result<std::string> document) {
  if (!document) return failed(document.error());
  return {200, std::move(*document)};
}

ApiReply reply_of(Result<std::optional<std::string>> document, std::string_view what) {
  if (!document) return failed(document.error());
  if (!document->has_value()) return not_found(what);
  return {200, std::move(**document)};
}

// The decoded path segments after /api/v1.
std::vector<std::string> steps_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string> steps;
  if (!path.starts_with(Api::kRoot)) return steps;
  for (const std::string_view step : split(path.substr(Api::kRoot.size()), '/')) {
    if (!step.empty()) steps.push_back(percent_decoded(step, false));
  }
  return steps;
}

Result<std::size_t> limit_of(const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::size_t limit, parameters.whole("limit", 500, 1000));
  if (limit == 0) return invalid("limit: at least 1");
  return limit;
}

ApiReply curves(store::Store& store, const Parameters& parameters) {
  store::CurveQuery query{.model = parameters.text("model"),
                          .dataset = parameters.text("dataset"),
                          .system = parameters.text("system"),
                          .accelerator = parameters.text("accelerator"),
                          .software = parameters.text("software"),
                          .division = parameters.text("division"),
                          .availability = parameters.text("availability"),
                          .organisation = parameters.text("organisation"),
                          .kind = parameters.text("kind"),
                          .accuracy = parameters.text("accuracy"),
                          .words = parameters.text("q"),
                          .points = parameters.text("points") != "none",
                          .after = parameters.text("cursor")};
  const auto limit = limit_of(parameters);
  if (!limit) return failed(limit.error());
  query.limit = *limit;
  return reply_of(curves_document(store, query));
}

ApiReply systems(store::Store& store, const Parameters& parameters) {
  const auto limit = limit_of(parameters);
  if (!limit) return failed(limit.error());
  return reply_of(systems_document(store, {.model = parameters.text("model"),
                                           .words = parameters.text("q"),
                                           .limit = *limit,
                                           .after = parameters.text("cursor")}));
}

}  // namespace

ApiReply api_error(int status, std::string_view code, std::string_view message) {
  return {status, Json().set("error", Json().set("code", code).set("message", message)).dump()};
}

ApiReply Api::answer(const ApiRequest& request) {
  if (request.method == "GET") return get(request);
  if (request.method == "POST") return post(request);
  return api_error(405, "method", "GET or POST");
}

ApiReply Api::get(const ApiRequest& request) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  // Not cached: replies that depend on the session, and those cached elsewhere.
  if (path == "/api/v1/session" || path.ends_with("/events") ||
      path.starts_with("/api/v1/submissions")) {
    return get_fresh(request);
  }
  const auto revision = store_.revision();
  if (!revision) return failed(revision.error());
  const auto known = std::ranges::find(remembered_, request.target, &Remembered::target);
  if (known != remembered_.end() && known->revision == *revision) {
    remembered_.splice(remembered_.begin(), remembered_, known);
    return remembered_.front().reply;
  }
  if (known != remembered_.end()) remembered_.erase(known);
  ApiReply reply = get_fresh(request);
  if (reply.status == 200 && reply.body.size() <= kRememberedBytes) {
    remembered_.push_front({std::string(request.target), *revision, reply});
    if (remembered_.size() > kRemembered) remembered_.pop_back();
  }
  return reply;
}

ApiReply Api::get_fresh(const ApiRequest& request) {
  const std::vector<std::string> steps = steps_of(request.target);
  const Parameters parameters(request.target);
  const std::string_view first = steps.empty() ? std::string_view() : steps[0];
  if (steps.size() == 1) {
    if (first == "session") return session(request);
    if (first == "models") return reply_of(models_document(store_));
    if (first == "datasets") return reply_of(datasets_document(store_, parameters.text("model")));
    if (first == "datasheets") return reply_of(datasheets_document(store_));
    if (first == "review_head") return reply_of(head_document(store_));
    if (first == "systems") return systems(store_, parameters);
    if (first == "curves") return curves(store_, parameters);
    if (first == "compare") {
      return reply_of(compare_document(store_, parameters.text("a"), parameters.text("b")),
                      "no such curves: a and b are ids of /curves");
    }
  }
  if (steps.size() == 2) {
    if (first == "systems") return reply_of(store_.system(steps[1]), "no such system");
    if (first == "curves") return reply_of(curve_document(store_, steps[1]), "no such curve");
    if (first == "runs") return reply_of(run_document(store_, steps[1]), "no such run");
    if (first == "compare" && steps[1] == "safety") return compare_safety(request.target);
    if (first == "datasheets") {
      return reply_of(datasheet_document(store_, steps[1]), "no such dataset description");
    }
  }
  if (steps.size() == 3 && first == "runs" && steps[2] == "events") {
    return events(steps[1], request.target);
  }
  if (first == "submissions" && steps.size() <= 2) {
    return submissions(steps.size() == 2 ? steps[1] : "", request);
  }
  return not_found("no such address; docs/formats/api.yaml lists them");
}

ApiReply Api::submissions(const std::string& id, const ApiRequest& request) {
  const rules::Actor actor = actor_of(request.session);
  if (!id.empty()) {
    return reply_of(submission_document(store_, id, actor, holidays_), "no such submission");
  }
  const Parameters parameters(request.target);
  const auto limit = limit_of(parameters);
  if (!limit) return failed(limit.error());
  return reply_of(submissions_document(store_,
                                       {.state = parameters.text("state"),
                                        .cohort = parameters.text("cohort"),
                                        .organisation = parameters.text("organisation"),
                                        .limit = *limit,
                                        .after = parameters.text("cursor")},
                                       actor, holidays_));
}

ApiReply Api::session(const ApiRequest& request) {
  const auto revision = store_.revision();
  if (!revision) return failed(revision.error());
  return {200, Json()
                   .set("version", version())
                   .set("role", to_string(request.session.role))
                   .set("organisation", request.session.organisation)
                   .set("writable", request.writable)
                   .set("revision", *revision)
                   .dump()};
}

ApiReply Api::events(std::string_view id, std::string_view target) {
  const auto found = store_.run(id);
  if (!found) return failed(found.error());
  if (!found->has_value()) return not_found("no such run");
  // The folder comes from the store, never from the request.
  if ((*found)->source.empty()) return not_found("no event log of this run is at hand");
  const Parameters parameters(target);
  EventWindow window{.tokens = parameters.text("detail") == "tokens"};
  const auto from = parameters.number("from_ms", 0);
  const auto to = parameters.number("to_ms", -1);
  const auto from_lane = parameters.whole("from_lane", 0, 0xffffffff);
  const auto to_lane = parameters.whole("to_lane", 0xffffffff, 0xffffffff);
  const auto limit = parameters.whole("limit", 5000, 50'000);
  if (!from) return failed(from.error());
  if (!to) return failed(to.error());
  if (!from_lane) return failed(from_lane.error());
  if (!to_lane) return failed(to_lane.error());
  if (!limit) return failed(limit.error());
  window.from_ms = *from;
  window.to_ms = *to;
  window.from_lane = static_cast<std::uint32_t>(*from_lane);
  window.to_lane = static_cast<std::uint32_t>(*to_lane);
  window.limit = std::max<std::size_t>(1, *limit);
  const auto run = runs_.get((*found)->source);
  if (!run) return not_found("no event log of this run is at hand");
  return {200, events_document(**run, window)};
}

ApiReply Api::compare_safety(std::string_view target) {
  const Parameters parameters(target);
  std::optional<double> margin;
  if (!parameters.text("margin_points").empty()) {
    const auto points = parameters.number("margin_points", 0);
    if (!points) return failed(points.error());
    if (!(*points > 0 && *points <= 100)) {
      return failed(invalid("margin_points: above 0 and at most 100"));
    }
    margin = *points / 100;
  }
  std::vector<std::string> folders;
  for (const char* side : {"a", "b"}) {
    const auto folder = curve_folder(store_, parameters.text(side));
    if (!folder) return failed(folder.error());
    if (folder->empty() || !pairs_) {
      return not_found(format("{}: no curve whose folder is at hand", side));
    }
    folders.push_back(*folder);
  }
  const auto done = pairs_(folders[0], folders[1], margin);
  if (!done) return failed(done.error());
  return {200, done->dump()};
}

ApiReply Api::post(const ApiRequest& request) {
  const std::vector<std::string> steps = steps_of(request.target);
  const bool making = steps.size() == 1 && steps[0] == "submissions";
  const bool acting = steps.size() == 3 && steps[0] == "submissions" && steps[2] == "acts";
  if (!making && !acting) {
    return not_found("nothing can be posted here; docs/formats/api.yaml lists what can");
  }
  const auto body = Json::parse(request.body);
  if (!body || !body->is_object()) return api_error(400, "invalid", "the body: a JSON object");
  const rules::Actor actor = actor_of(request.session);
  auto done = making ? submit(store_, *body, actor, holidays_, head_)
                     : act(store_, steps[1], *body, actor, holidays_, head_);
  if (done) return {201, std::move(*done)};
  switch (done.error().code) {
    case Code::refused:
      // Not allowed for this session, or not in this state.
      return api_error(request.session.role == Role::reader ? 403 : 409, "refused",
                       done.error().message);
    case Code::not_found:
      return not_found(done.error().message);
    case Code::timed_out:
      return api_error(409, "busy", done.error().message);
    default:
      return failed(done.error());
  }
}

}  // namespace assay::explorer
