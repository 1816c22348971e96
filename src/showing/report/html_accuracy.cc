#include "report/html_accuracy.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/html_figures.h"
#include "report/score_table.h"

namespace assay::report {
namespace {

struct KindWords {
  std::string_view id{};    // in judged_replies.json and as a class of the page
  std::string_view word{};  // in the table
};
constexpr std::array<KindWords, 5> kKinds{{{"right", "right"},
                                           {"partly", "partly right"},
                                           {"wrong", "wrong"},
                                           {"nothing", "no answer found"},
                                           {"unanswered", "no reply"}}};

// Rows of other kinds are hidden while a kind's button is checked.
constexpr std::string_view kStyle = R"css(
.judged{border:0;margin:0;padding:0;min-width:0}
.judged legend{padding:0;margin-bottom:4px;font-weight:600}
.judged input{margin:0 5px 0 0}
.judged label{margin-right:16px}
.judged input:focus-visible{outline:2px solid var(--s1);outline-offset:2px}
.judged .scroll{margin-top:10px}
.judged td,.judged th{text-align:left;vertical-align:top;padding-right:18px}
.judged td{white-space:pre-wrap;overflow-wrap:anywhere;min-width:6em}
.judged td:last-child{min-width:18em;white-space:normal}
.judged caption{text-align:left;color:var(--soft);font-size:13px;padding-bottom:8px}
.judged tr.wrong .is,.judged tr.nothing .is,.judged tr.unanswered .is{color:var(--bad)}
@media print{.judged input,.judged label{display:none}}
)css";

std::string_view kind_word(std::string_view id) {
  for (const KindWords& kind : kKinds) {
    if (kind.id == id) return kind.word;
  }
  return "not judged";
}

// Only known kinds become names of classes.
std::string_view kind_class(std::string_view id) {
  for (const KindWords& kind : kKinds) {
    if (kind.id == id) return kind.id;
  }
  return "other";
}

std::string text_cell(const Json& value) {
  if (value.is_null()) return "–";
  return markup_text(value.is_string() ? std::string(value.as_string()) : value.dump());
}

std::string reply_cell(const Json& one) {
  const std::int64_t bytes = one["reply_bytes"].as_int();
  if (bytes == 0) return "–";
  return format("<details><summary>reply, {} bytes</summary><pre dir=\"auto\">{}</pre></details>",
                count_text(static_cast<std::uint64_t>(bytes)),
                markup_text(one["reply"].as_string()));
}

std::string reply_row(const Json& one) {
  const std::string_view kind = one["kind"].as_string();
  std::string out = format("<tr class=\"{}\"><th scope=\"row\">{}</th><td class=\"is\">{}</td>",
                           kind_class(kind), one["sample"].as_uint(), kind_word(kind));
  for (const char* key : {"extracted", "rule", "truth"}) {
    out += format("<td dir=\"auto\">{}</td>", text_cell(one[key]));
  }
  return out + format("<td>{}</td></tr>\n", reply_cell(one));
}

std::uint64_t shown_of(const Json& set, std::string_view kind) {
  std::uint64_t out = 0;
  for (const Json& one : set["replies"].items()) out += one["kind"].as_string() == kind ? 1U : 0U;
  return out;
}

std::string radio(std::size_t set, std::string_view kind, std::string_view words, bool checked) {
  return format(
      "<input type=\"radio\" class=\"show-{}\" name=\"judged-{}\" id=\"judged-{}-{}\"{} /><label "
      "for=\"judged-{}-{}\">{}</label>\n",
      kind, set, set, kind, checked ? " checked" : "", set, kind, words);
}

// "right: 12 of 120 shown", or "right: 12" where all are.
std::string kind_label(const Json& set, const KindWords& kind, std::uint64_t count) {
  const std::uint64_t shown = shown_of(set, kind.id);
  return shown == count ? format("{} ({})", kind.word, count_text(count))
                        : format("{} ({} of {})", kind.word, count_text(shown), count_text(count));
}

std::string judged_set(const Json& set, std::size_t number) {
  std::uint64_t total = 0;
  std::string kinds;
  for (const KindWords& kind : kKinds) {
    const std::uint64_t count = set["counts"][kind.id].as_uint();
    total += count;
    if (count > 0) kinds += radio(number, kind.id, kind_label(set, kind, count), false);
  }
  const std::uint64_t shown = set["replies"].size();
  std::string about = format("{} of {} replies", count_text(shown), count_text(total));
  if (shown < total) {
    about += format(
        "; {} left out: the first of each kind are here, and assay score RUN --verdicts FILE "
        "writes all",
        total - shown == 1 ? "1 is" : count_text(total - shown) + " are");
  }
  std::string out = format(
      "<div class=\"card\">\n<fieldset class=\"judged\"><legend>{}: which replies to "
      "show</legend>\n",
      markup_text(set["dataset"].as_string()));
  out += radio(number, "all", "all", true) + kinds;
  out += format(
      "<div class=\"scroll\"><table>\n<caption>{}</caption>\n<thead><tr><th scope=\"col\">sample"
      "</th><th scope=\"col\">verdict</th><th scope=\"col\">extracted</th><th scope=\"col\">by "
      "rule</th><th scope=\"col\">wanted</th><th scope=\"col\">reply</th></tr></thead>\n<tbody>\n",
      about);
  for (const Json& one : set["replies"].items()) out += reply_row(one);
  return out + "</tbody></table></div>\n</fieldset>\n</div>\n";
}

std::string scores_card(const ScoreTable& table) {
  if (table.scores.empty()) return {};
  HtmlTable scores({"dataset", "figure", "score", "interval", "samples", "replies"}, "words");
  for (const ScoreRow& row : table.scores) {
    scores.row({row.dataset, (row.part ? "… " : "") + row.figure, row.score, row.interval,
                row.samples, row.replies});
  }
  std::string out = "<div class=\"card\">\n" + scores.finish();
  if (!table.demands.empty()) {
    HtmlTable demands({"metric", "value", "demanded", "verdict"}, "words");
    for (const DemandRow& row : table.demands) {
      demands.row({row.metric, row.value, row.demand, row.verdict});
    }
    out += format("<h3>{}</h3>\n", markup_text(table.demanded_by)) + demands.finish();
  }
  for (const std::string& note : table.notes) {
    out += format("<p class=\"note\">{}</p>\n", markup_text(note));
  }
  return out + "</div>\n";
}

}  // namespace

std::string html_accuracy(const RunContext& context) {
  std::string out = scores_card(score_table(context.accuracy));
  std::size_t number = 0;
  for (const Json& set : context.judged.items()) {
    out += "<div style=\"height:12px\"></div>\n" + judged_set(set, number++);
  }
  return out;
}

std::string accuracy_stylesheet(const RunContext& context) {
  if (context.judged.size() == 0) return {};
  std::string out(kStyle);
  for (const KindWords& kind : kKinds) {
    out += format(".show-{}:checked~.scroll tbody tr:not(.{}){{display:none}}\n", kind.id, kind.id);
  }
  return out;
}

}  // namespace assay::report
