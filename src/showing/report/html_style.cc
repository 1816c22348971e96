#include "report/html_style.h"

#include "base/format.h"
#include "base/markup.h"
#include "report/svg/style.h"

namespace assay::report {
namespace {

constexpr std::string_view kPage = R"css(
:root{--card:#fff;--back:#f6f7f9;--line:#dfe3e8;--warn-back:#fff6e5;--warn-line:#e69f00;
--bad:#b8430a}
@media (prefers-color-scheme:dark){:root{--card:#0f1318;--back:#090c10;--line:#242b33;
--warn-back:#241b07;--warn-line:#e69f00;--bad:#f0894f}}
@media print{:root{--card:#fff;--back:#fff;--line:#ccc;--warn-back:#fff;--bad:#b8430a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,-apple-system,
"Segoe UI",sans-serif;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
main,header,footer{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
.kind{display:flex;gap:10px;align-items:center;color:var(--soft);font-size:13px;
letter-spacing:.02em}
.kind b{color:var(--ink);letter-spacing:.08em}
.badge{border:1px solid var(--line);border-radius:99px;padding:1px 10px;background:var(--card)}
.badge.simulated{border:1px dashed var(--s2);color:var(--s2);font-weight:600}
h1{font-size:30px;line-height:1.2;margin:8px 0 4px;letter-spacing:-.015em}
h2{font-size:19px;margin:44px 0 14px;letter-spacing:-.01em}
h3{font-size:15px;line-height:1.4;margin:0}
.meta{color:var(--soft);margin:0}
.verdict{font-size:19px;line-height:1.45;margin:18px 0 0;max-width:52em}
.test{list-style:none;margin:20px 0 0;padding:0}
.warnings{list-style:none;margin:20px 0 0;padding:0}
.warnings li{border-left:4px solid var(--warn-line);background:var(--warn-back);padding:9px 14px;
margin:0 0 6px;border-radius:0 6px 6px 0}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:24px 0 0;padding:0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.tile dt{color:var(--soft);font-size:13px}
.tile dd{margin:0}
.tile .value{font-size:27px;font-weight:650;letter-spacing:-.02em;line-height:1.25;margin-top:2px}
.tile .unit{font-size:15px;font-weight:400;color:var(--soft);letter-spacing:0}
.tile .name{color:var(--soft);font-size:12px;font-family:ui-monospace,monospace}
.tile .doubt{color:var(--bad);font-size:13px}
.tile:not(.bad) .doubt:before{content:"! "}
.tile.bad .value{color:var(--bad)}
.grid{display:grid;grid-template-columns:1fr 1fr;gap:12px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:18px 20px;
margin:0;min-width:0;break-inside:avoid}
.card>p{margin:0}
figcaption p{color:var(--soft);font-size:13px;margin:2px 0 12px;max-width:62em}
.card{--paper:var(--card)}
figure.half{display:flex;flex-direction:column}.half figcaption{flex:1}
#truth .half figcaption{flex:none}
.narrow{display:none}
details{margin-top:10px}
details:first-child{margin-top:0}
details pre{margin-top:10px}
summary{cursor:pointer;color:var(--soft);font-size:13px;width:max-content}
summary:focus-visible{outline:2px solid var(--s1);outline-offset:2px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{overflow-wrap:normal;padding:6px 10px 6px 0;border-bottom:1px solid var(--line);
text-align:right;font-weight:400;white-space:nowrap}
thead th{color:var(--soft);font-size:13px}
tbody th,thead th:first-child{text-align:left}
tbody tr:last-child th,tbody tr:last-child td{border-bottom:0}
tr>*:last-child{padding-right:0}
.card>h3{margin-bottom:10px}
.part th{padding-left:18px;color:var(--soft)}
.words td,.words th{vertical-align:top;text-align:left;padding-right:18px}
.words td:nth-child(n+4){white-space:normal;min-width:15em;overflow-wrap:break-word}
.words td.hash{min-width:20em;overflow-wrap:anywhere}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:6px 20px;margin:0}
.facts dt{color:var(--soft)}
.facts dd{margin:0}
.mono,pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px}
.hash{overflow-wrap:anywhere;color:var(--soft)}
pre{margin:0;overflow-x:auto;white-space:pre-wrap}
.note{color:var(--soft);font-size:13px;margin:8px 0 0}
footer{color:var(--soft);font-size:13px;padding-top:36px;padding-bottom:48px}
)css";

// Tablets, phones and paper.
constexpr std::string_view kOtherSizes = R"css(
@media (max-width:820px){.grid{grid-template-columns:1fr}.tiles{grid-template-columns:1fr 1fr}
.half svg{max-width:620px}}
@media (max-width:640px){main,header,footer{padding-left:16px;padding-right:16px}
.wide{display:none}.narrow{display:block}h1{font-size:24px}.verdict{font-size:17px}
.tile .value{font-size:23px}.card{padding:14px}.facts{grid-template-columns:1fr;gap:0}.facts dd{
margin-bottom:8px}}
@media (max-width:640px){.words thead{display:none}.words tr{display:block;padding:8px 0;
border-bottom:1px solid var(--line)}
.words tr:last-child{border-bottom:0}.words td,.words th{display:inline;border:0;
white-space:normal}
.words td:nth-child(n+4){display:block}}
@media print{body{font-size:12px}header{padding-top:0}h2{margin-top:24px;break-after:avoid}
.tile .value{font-size:20px}
summary,.narrow{display:none}.wide{display:block}
.grid{grid-template-columns:1fr 1fr}.tiles{grid-template-columns:repeat(4,1fr)}
.hover{display:none}}
)css";

}  // namespace

std::string page_stylesheet() { return std::string(kPage) + std::string(kOtherSizes); }

std::string page_head(std::string_view title, std::string_view more) {
  return format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n",
      markup_text(title), svg::stylesheet(), page_stylesheet(), more);
}

}  // namespace assay::report
