#include "meter/query_source.h"

#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "meter/polled_page.h"

namespace assay::meter {
namespace {

class QuerySource final : public PolledPage {
 public:
  QuerySource(protocol::PageReader reader, std::string shown, Duration interval)
      : PolledPage("query", std::move(reader), std::move(shown), interval) {}

  std::uint64_t unreadable() const override { return 0; }

 private:
  Result<std::vector<observe::PrometheusSample>> samples_of(std::string_view body) override {
    return read_query_answer(body);
  }
};

// {a="1",b="2"}, as the series' label.
std::string label_of_series(const Json& metric) {
  std::string out;
  for (const auto& [name, value] : metric.members()) {
    out += format("{}{}={}", out.empty() ? "" : ",", name, value.as_string());
  }
  return out;
}

}  // namespace

Result<std::vector<observe::PrometheusSample>> read_query_answer(std::string_view json) {
  ASSIGN_OR_RETURN(const Json answer, Json::parse(json));
  if (answer["status"].as_string() != "success") {
    return Error{Code::refused, format("the query failed: {}", answer["error"].as_string())};
  }
  const Json& data = answer["data"];
  const std::string_view type = data["resultType"].as_string();
  std::vector<observe::PrometheusSample> out;
  const auto take = [&out](std::string label, const Json& value) {
    const auto items = value.items();
    if (items.size() != 2) return;
    const auto watts = parse_double(items[1].as_string());
    if (!watts || !std::isfinite(*watts)) return;
    out.push_back(
        {.name = "meter_power_watts", .labels = {{"label", std::move(label)}}, .value = *watts});
  };
  if (type == "scalar") {
    take("", data["result"]);
  } else if (type == "vector") {
    for (const Json& series : data["result"].items()) {
      take(label_of_series(series["metric"]), series["value"]);
    }
  } else {
    return Error{Code::unsupported, format("the answer is a \"{}\"; a query of power is an instant "
                                           "one, with a vector or a scalar",
                                           type)};
  }
  if (out.empty()) return Error{Code::not_found, "the query has no series with a value"};
  return out;
}

Result<std::unique_ptr<Source>> query_source(protocol::ProbeQuestion question, std::string shown,
                                             Duration interval, const Clock& clock) {
  ASSIGN_OR_RETURN(auto reader, protocol::PageReader::open(question, clock));
  return std::unique_ptr<Source>(
      std::make_unique<QuerySource>(std::move(reader), std::move(shown), interval));
}

}  // namespace assay::meter
