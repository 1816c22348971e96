#include "report/html.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/html_accuracy.h"
#include "report/html_figures.h"
#include "report/html_style.h"

namespace assay::report {
namespace {

std::string section(std::string_view id, std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, markup_text(title), body);
}

std::string card(const std::string& body) {
  return body.empty() ? body : "<div class=\"card\">\n" + body + "</div>\n";
}

std::string facts_list(const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string out = "<dl class=\"facts\">\n";
  for (const Fact& fact : facts) {
    out += format("<dt>{}</dt><dd>{}</dd>\n", markup_text(fact.name), markup_text(fact.text));
  }
  return out + "</dl>\n";
}

std::string tiles(const Content& content) {
  std::string out = "<dl class=\"tiles\">\n";
  for (const Headline& headline : content.headlines) {
    const bool bad = headline.name == "failed" && headline.value != "0";
    out += format(
        "<div class=\"tile{}\"><dt>{}</dt><dd><div class=\"value\">{} <span "
        "class=\"unit\">{}</span></div><div class=\"name\">{}</div>",
        bad ? " bad" : "", markup_text(headline.title), markup_text(headline.value),
        markup_text(headline.unit), markup_text(headline.name));
    if (!headline.doubt.empty())
      out += format("<div class=\"doubt\">{}</div>", markup_text(headline.doubt));
    out += "</dd></div>\n";
  }
  return out + "</dl>\n";
}

std::string head(const Content& content) {
  std::string out = "<header>\n<div class=\"kind\"><b>ASSAY</b>";
  out += content.simulated
             ? "<span class=\"badge simulated\">simulated: computed by a model, not measured</span>"
             : "<span class=\"badge\">measured run</span>";
  out += format("</div>\n<h1>{}</h1>\n<p class=\"meta\">", markup_text(content.target));
  out += markup_text(content.load);
  if (!content.when.empty()) out += (content.load.empty() ? "" : " · ") + markup_text(content.when);
  out += format("</p>\n<p class=\"verdict\">{}.</p>\n", markup_text(content.verdict));
  if (!content.warnings.empty()) {
    out += "<ul class=\"warnings\" aria-label=\"warnings\">\n";
    for (const std::string& warning : content.warnings) {
      out += format("<li><b>Warning:</b> {}</li>\n", markup_text(warning));
    }
    out += "</ul>\n";
  }
  if (!content.test.empty()) {
    out += "<ul class=\"test\" aria-label=\"the suite's test\">\n";
    for (const Fact& fact : content.test) {
      out += format("<li><b>{}:</b> {}</li>\n", markup_text(fact.name), markup_text(fact.text));
    }
    out += "</ul>\n";
  }
  return out + tiles(content) + "</header>\n";
}

std::string distribution_table(const Content& content) {
  if (content.distributions.empty()) return {};
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">distribution</th>";
  for (const double p : kShownPercentiles) {
    out += format("<th scope=\"col\">{}</th>", percentile_name(p));
  }
  out +=
      "<th scope=\"col\">mean</th><th scope=\"col\">max</th><th "
      "scope=\"col\">values</th></tr></thead>\n<tbody>\n";
  for (const DistributionRow& row : content.distributions) {
    out += format("<tr{}><th scope=\"row\" title=\"{}\">{}{}</th>",
                  row.part ? " class=\"part\"" : "", markup_text(row.about), markup_text(row.name),
                  row.quantity == Quantity::count ? " tokens" : "");
    for (const double p : kShownPercentiles) {
      out += format("<td>{}</td>", markup_text(percentile_cell(row, p)));
    }
    out += format("<td>{}</td><td>{}</td><td>{}</td></tr>\n",
                  markup_text(value_cell(row, row.series->mean)),
                  markup_text(value_cell(row, row.series->max)), count_text(row.series->count));
  }
  out += "</tbody></table></div>\n";
  if (has_few_values(content))
    out += format("<p class=\"note\">{}</p>\n", markup_text(kFewValuesNote));
  return out;
}

// The two clocks side by side: the delay that the client's own reading adds to each figure.
std::string clock_table(const metrics::Point& point) {
  if (point.read.latency.empty() || point.stamps.kernel_stamped == 0) return {};
  struct Pair {
    std::string_view name{};
    const metrics::Distribution* arrival = nullptr;
    const metrics::Distribution* read = nullptr;
  };
  HtmlTable table(
      {"by the clock of", "arrival P50", "our read P50", "arrival P99", "our read P99"});
  for (const Pair& pair : {Pair{"TTFT", &point.arrival.ttft, &point.read.ttft},
                           Pair{"TPOT", &point.arrival.tpot, &point.read.tpot},
                           Pair{"ITL", &point.arrival.itl, &point.read.itl},
                           Pair{"latency", &point.arrival.latency, &point.read.latency}}) {
    if (pair.arrival->empty()) continue;
    const auto cell = [](double ns) { return quantity_text(Quantity::duration, ns); };
    table.row({std::string(pair.name), cell(pair.arrival->median()), cell(pair.read->median()),
               cell(pair.arrival->percentile(99.0)), cell(pair.read->percentile(99.0))});
  }
  return table.finish();
}

std::string truth(const metrics::Point& point, const Content& content) {
  std::string left = "<div class=\"card\">\n" + facts_list(content.basis);
  const std::string clocks = clock_table(point);
  if (!clocks.empty()) {
    left += "<details><summary>The two clocks side by side</summary>\n" + clocks + "</details>\n";
  }
  left += "</div>\n";
  const std::string right = client_figure(point);
  return right.empty() ? left : "<div class=\"grid\">\n" + left + right + "</div>\n";
}

std::string html_failures(const Content& content) {
  if (content.failures.empty()) return card("<p>No query failed.</p>\n");
  HtmlTable table({"class", "count", "share", "meaning", "example"}, "words");
  for (const FailureRow& row : content.failures) {
    table.row({row.outcome, count_text(row.count), share_text(row.share), row.about,
               row.example.empty() ? "" : row.where + ": " + row.example});
  }
  return card(table.finish());
}

// Any object as a flat list: "gpu.name", "gpu.memory".
void flatten(const std::string& name, const Json& value, std::vector<Fact>& out) {
  if (value.is_object()) {
    for (const Json::Member& member : value.members()) {
      flatten(name.empty() ? member.first : name + "." + member.first, member.second, out);
    }
    return;
  }
  if (value.is_array() && value.size() > 0) {
    std::string all;
    for (const Json& item : value.items()) {
      all += (all.empty() ? "" : ", ") +
             (item.is_string() ? std::string(item.as_string()) : item.dump());
    }
    out.push_back({printable(name), printable(all)});
    return;
  }
  if (value.is_null()) return;
  constexpr std::string_view kBytes = "_bytes";
  if (value.is_integer() && name.ends_with(kBytes)) {
    out.push_back(
        {printable(name.substr(0, name.size() - kBytes.size())), human_bytes(value.as_uint())});
    return;
  }
  out.push_back({printable(name),
                 printable(value.is_string() ? std::string(value.as_string()) : value.dump())});
}

std::string run_and_system(const Content& content, const RunContext& context) {
  std::vector<Fact> system;
  flatten("", context.environment, system);
  const std::string run = card("<h3>The run</h3>\n" + facts_list(content.about));
  if (system.empty()) return run;
  return "<div class=\"grid\">\n" + run +
         card("<h3>System and software</h3>\n" + facts_list(system)) + "</div>\n";
}

std::string config(const RunContext& context) {
  if (context.config_yaml.empty()) return {};
  return card("<details open><summary>The config as it was run, without secrets</summary>\n<pre>" +
              markup_text(context.config_yaml) + "</pre></details>\n");
}

std::string html_files(const RunContext& context) {
  if (context.files.empty()) return {};
  std::string out =
      "<div class=\"scroll\"><table class=\"words\">\n<thead><tr><th scope=\"col\">file</th>"
      "<th scope=\"col\">what</th><th scope=\"col\">size</th><th scope=\"col\">sha256</th>"
      "</tr></thead>\n<tbody>\n";
  for (const ReportFile& file : context.files) {
    out += format(
        "<tr><th scope=\"row\" class=\"mono\">{}</th><td>{}</td><td>{}</td><td class=\"mono "
        "hash\">{}</td></tr>\n",
        markup_text(path_in_folder(context, file)), markup_text(file.about),
        human_bytes(file.bytes), markup_text(file.sha256));
  }
  return card(out + "</tbody></table></div>\n");
}

std::string html_definitions() {
  return "<p>TTFT = first token − request sent. TPOT = (reply complete − first token) / output "
         "tokens "
         "after the first fragment. ITL = gap between two fragments of a reply. Latency = reply "
         "complete − request sent; from due: counted from when the plan wanted it sent. system_tps "
         "= "
         "output tokens / s over the run. tps_per_user = 1000 / TPOT P90 in ms. A failed query "
         "is "
         "counted and is in no distribution.</p>\n";
}

}  // namespace

std::string html_report(const metrics::Point& point, const RunContext& context) {
  const Content content = make_content(point, context);
  const std::string target = content.target.empty() ? "Assay" : content.target;
  std::string out =
      page_head(content.simulated ? target + " (simulated)" : target, accuracy_stylesheet(context));
  out += head(content) + "<main>\n";
  std::string distributions = distribution_figures(point);
  if (!distributions.empty()) {
    distributions = "<div class=\"grid\">\n" + distributions + "</div>\n";
    distributions += "<div style=\"height:12px\"></div>\n" + card(distribution_table(content));
  }
  out += section("waits", "How long does one wait?", distributions);
  out += section("time", "Was it the same all the time?", timeline_figure(point));
  out += section("truth", "What do the numbers rest on?", truth(point, content));
  out += section("quality", "How good were the replies?", html_accuracy(context));
  out += section("failures", "What failed?", html_failures(content));
  out += section("run", "What was measured, and on what?", run_and_system(content, context));
  out += section("config", "Config", config(context));
  out += section("files", "Files", html_files(context));
  out += "</main>\n<footer>\n" + html_definitions() +
         format("<p>Assay {}</p>\n", markup_text(point.run.version)) +
         "</footer>\n</body>\n</html>\n";
  return out;
}

}  // namespace assay::report
