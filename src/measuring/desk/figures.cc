#include "desk/figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "desk/category.h"

namespace assay::desk {
namespace {

double seconds(Duration time) { return static_cast<double>(time.ns) / 1e9; }

// A mean of what is there.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  void add(const std::optional<double>& value) {
    if (value) add(*value);
  }
  std::optional<double> value() const {
    if (count_ == 0) return std::nullopt;
    return sum_ / count_;
  }

 private:
  double sum_ = 0;
  double count_ = 0;
};

ItemFigures item_figures(const Item& item, std::uint32_t planned,
                         std::span<const InferenceRecord> runs) {
  ItemFigures out{.item = item, .planned = planned};
  Mean ttft;
  Mean latency;
  Mean in;
  Mean asked_out;
  bool too_short = false;
  for (const InferenceRecord& run : runs) {
    ++out.measured;
    if (!run.ok || run.first_token == Instant::none()) {
      ++out.failed;
      continue;
    }
    ttft.add(seconds(run.first_token - run.sent));
    if (run.tokens_in >= 0) in.add(static_cast<double>(run.tokens_in));
    if (run.tokens_out >= 0) asked_out.add(static_cast<double>(run.tokens_out));
    if (run.tokens_out < 2) {
      too_short = true;
      continue;
    }
    const double tokens = static_cast<double>(run.tokens_out - 1);
    const double time = seconds(run.done - run.first_token);
    latency.add(time / tokens);
    out.tokens_after_first += tokens;
    out.seconds_after_first += time;
  }
  out.tokens_in = in.value();
  out.tokens_out = asked_out.value();
  if (out.failed > 0) return out;
  out.ttft_s = ttft.value();
  if (too_short) return out;
  out.latency_s = latency.value();
  if (out.latency_s && *out.latency_s > 0) out.rate = 1 / *out.latency_s;
  if (out.latency_s && item.tools_s && item.recorded_tokens >= 0) {
    const double recorded = static_cast<double>(item.recorded_tokens);
    out.expected_s = recorded * *out.latency_s + *item.tools_s + *out.ttft_s;
  }
  return out;
}

// nullopt where one value is missing.
void add_to(std::optional<double>& sum, const std::optional<double>& value) {
  sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
}

void add_agent_figures(CategoryFigures& out) {
  out.expected_s = 0;
  out.tools_s = 0;
  for (const ItemFigures& turn : out.items) {
    add_to(out.expected_s, turn.expected_s);
    add_to(out.tools_s, turn.item.tools_s);
    if (!turn.item.tools_why.empty() && out.why.empty()) {
      out.why = format("no time of tools: turn {}: {}", turn.item.number, turn.item.tools_why);
    }
  }
  out.context_tokens = out.items.back().tokens_in;
}

void add_category_figures(CategoryFigures& out) {
  Mean ttft;
  Mean rate;
  Mean in;
  Mean tokens_out;
  double tokens = 0;
  double time = 0;
  std::uint32_t unrated = 0;
  std::uint32_t unasked = 0;
  for (const ItemFigures& item : out.items) {
    out.failed_items += item.failed > 0 ? 1 : 0;
    unasked += item.measured < item.planned ? 1 : 0;
    ttft.add(item.ttft_s);
    rate.add(item.rate);
    in.add(item.tokens_in);
    tokens_out.add(item.tokens_out);
    if (item.ttft_s && !item.rate) ++unrated;
    if (!item.rate) continue;
    tokens += item.tokens_after_first;
    time += item.seconds_after_first;
  }
  out.ttft_s = ttft.value();
  out.tokens_in = in.value();
  out.tokens_out = tokens_out.value();
  if (unrated == 0) {
    out.rate = rate.value();
    if (time > 0) out.rate_by_tokens = tokens / time;
  }
  if (unasked > 0) {
    out.why =
        format("{} of {} prompts were not asked as often as planned", unasked, out.items.size());
  } else if (out.failed_items > 0) {
    out.why =
        format("{} of {} prompts failed and are left out", out.failed_items, out.items.size());
  } else if (unrated > 0) {
    out.why = format("{} of {} prompts had a reply with fewer than two tokens: no rate", unrated,
                     out.items.size());
  }
}

void add_overall(ClientFigures& out) {
  if (std::ranges::none_of(out.categories, &CategoryFigures::required)) {
    out.why = "they are of the five required categories, of which none was asked";
    return;
  }
  std::vector<double> ttft;
  std::vector<double> rate;
  for (const std::string_view name : kRequiredCategories) {
    const auto found = std::ranges::find(out.categories, name, &CategoryFigures::name);
    if (found == out.categories.end()) {
      out.why = format("{} was not asked; all five required categories are needed", name);
      return;
    }
    if (!found->why.empty() || !found->ttft_s || !found->rate) {
      out.why = format("{}: {}", name, found->why.empty() ? "has no figures" : found->why);
      return;
    }
    ttft.push_back(*found->ttft_s);
    rate.push_back(*found->rate);
  }
  out.ttft_s = geometric_mean(ttft);
  out.rate = geometric_mean(rate);
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

// As MLPerf Client writes it: 3 decimals.
Json rounded(const std::optional<double>& value) {
  return value ? Json(std::round(*value * 1000) / 1000) : Json();
}
Json whole(const std::optional<double>& value) {
  return value ? Json(static_cast<std::int64_t>(*value)) : Json();
}

Json item_json(const ItemFigures& item, bool agentic) {
  Json out;
  out.set("file", item.item.file)
      .set("group", item.item.group)
      .set("number", item.item.number)
      .set("planned", item.planned)
      .set("measured", item.measured)
      .set("failed", item.failed)
      .set("ttft_s", number(item.ttft_s))
      .set("second_token_latency_s", number(item.latency_s))
      .set("tokens_per_s", number(item.rate))
      .set("tokens_in", number(item.tokens_in))
      .set("tokens_out", number(item.tokens_out));
  if (agentic) {
    out.set("expected_duration_s", number(item.expected_s))
        .set("tools_s", number(item.item.tools_s))
        .set("recorded_tokens",
             item.item.recorded_tokens < 0 ? Json() : Json(item.item.recorded_tokens));
  }
  return out;
}

Json client_keys(const ClientFigures& figures) {
  Json categories = Json::object();
  Json overall;
  Mean in;
  Mean out;
  for (const CategoryFigures& one : figures.categories) {
    Json keys =
        Json()
            .set("Avg Time to First Token", rounded(one.ttft_s))
            .set("Avg 2nd+ Token Generation Rate", rounded(one.rate))
            .set("Avg Input Tokens", whole(figures.agentic ? one.context_tokens : one.tokens_in))
            .set("Avg Generated Tokens", whole(one.tokens_out));
    if (figures.agentic) {
      keys.set("Is Agentic", true)
          .set("Avg Expected Duration", rounded(one.expected_s))
          .set("Avg Tools Duration", rounded(one.tools_s))
          .set("Context Window Size", whole(one.context_tokens));
    }
    categories.set(one.name, std::move(keys));
    if (!one.required) continue;
    in.add(whole(one.tokens_in).as_double());
    out.add(whole(one.tokens_out).as_double());
  }
  if (figures.ttft_s && figures.rate) {
    overall.set("Geomean Time to First Token", rounded(figures.ttft_s))
        .set("Geomean 2nd+ Token Generation Rate", rounded(figures.rate))
        .set("Avg Input Tokens", whole(in.value()))
        .set("Avg Generated Tokens", whole(out.value()));
  }
  return Json()
      .set("overall_results", std::move(overall))
      .set("category_results", std::move(categories));
}

std::string cell(const std::optional<double>& value, double scale, int decimals) {
  if (!value) return "-";
  return format("{:.{}f}", *value * scale, decimals);
}

std::string line_of(std::string_view name, const std::optional<double>& ttft_s,
                    const std::optional<double>& rate, std::string_view in, std::string_view out) {
  return format("{:<28} {:>10} {:>10} {:>8} {:>8}\n", name, cell(ttft_s, 1000, 1), cell(rate, 1, 2),
                in, out);
}

}  // namespace

std::optional<double> geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    if (!(value > 0)) return std::nullopt;
    sum += std::log(value);
  }
  if (values.empty()) return std::nullopt;
  return std::exp(sum / static_cast<double>(values.size()));
}

ClientFigures client_figures(const Series& series, std::span<const InferenceRecord> records) {
  std::vector<std::vector<InferenceRecord>> of_item(series.items.size());
  std::vector<std::uint32_t> planned(series.items.size());
  for (const Inference& one : series.inferences) planned[one.item] += one.warmup ? 0 : 1;
  ClientFigures out;
  for (const InferenceRecord& record : records) {
    if (record.row >= series.inferences.size()) continue;
    const Inference& inference = series.inferences[record.row];
    if (inference.warmup) continue;
    of_item[inference.item].push_back(record);
    if (record.cached_in > 0) ++out.cached_inputs;
  }
  for (std::size_t i = 0; i < series.items.size(); ++i) {
    const Item& item = series.items[i];
    auto category = std::ranges::find(out.categories, item.category, &CategoryFigures::name);
    if (category == out.categories.end()) {
      out.categories.push_back({.name = item.category, .required = is_required(item.category)});
      category = out.categories.end() - 1;
    }
    category->items.push_back(item_figures(item, planned[i], of_item[i]));
  }
  out.agentic = series.agentic;
  for (CategoryFigures& category : out.categories) {
    add_category_figures(category);
    if (out.agentic) add_agent_figures(category);
  }
  add_overall(out);
  return out;
}

Json to_json(const ClientFigures& figures) {
  Json categories = Json::array();
  for (const CategoryFigures& one : figures.categories) {
    Json items = Json::array();
    for (const ItemFigures& item : one.items) items.push_back(item_json(item, figures.agentic));
    Json category = Json()
                        .set("name", one.name)
                        .set("required", one.required)
                        .set("ttft_s", number(one.ttft_s))
                        .set("tokens_per_s", number(one.rate))
                        .set("tokens_per_s_by_tokens", number(one.rate_by_tokens))
                        .set("tokens_in", number(one.tokens_in))
                        .set("tokens_out", number(one.tokens_out))
                        .set("why", one.why);
    if (figures.agentic) {
      category.set("expected_duration_s", number(one.expected_s))
          .set("tools_s", number(one.tools_s))
          .set("context_tokens", number(one.context_tokens));
    }
    categories.push_back(category.set("prompts", std::move(items)));
  }
  return Json()
      .set("overall", Json()
                          .set("ttft_s", number(figures.ttft_s))
                          .set("tokens_per_s", number(figures.rate))
                          .set("why", figures.why))
      .set("cached_inputs", figures.cached_inputs)
      .set("categories", std::move(categories))
      .set("mlperf_client", client_keys(figures));
}

std::string to_text(const ClientFigures& figures) {
  std::string out =
      format("{:<28} {:>10} {:>10} {:>8} {:>8}\n", "category", "TTFT ms", "tokens/s", "in", "out");
  for (const CategoryFigures& one : figures.categories) {
    out += line_of(one.name + (one.required ? " *" : ""), one.ttft_s, one.rate,
                   cell(one.tokens_in, 1, 0), cell(one.tokens_out, 1, 0));
  }
  out += line_of("overall (geometric mean)", figures.ttft_s, figures.rate, "", "");
  out += "* enters the overall figures\n";
  for (const CategoryFigures& one : figures.categories) {
    if (figures.agentic && (one.tools_s || one.expected_s)) {
      out += format("{}: expected {} s, of it tools {} s; context {} tokens\n", one.name,
                    cell(one.expected_s, 1, 3), cell(one.tools_s, 1, 3),
                    cell(one.context_tokens, 1, 0));
    }
    if (!one.why.empty()) out += format("{}: {}\n", one.name, one.why);
  }
  if (!figures.why.empty()) out += format("no overall figures: {}\n", figures.why);
  return out;
}

}  // namespace assay::desk
