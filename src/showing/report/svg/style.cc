#include "report/svg/style.h"

namespace assay::report::svg {

std::string_view stylesheet() {
  return R"css(:root{color-scheme:light dark;
--paper:#fff;--ink:#1b1f24;--soft:#57606a;--grid:#e4e7eb;--axis:#8b949e;--shade:#8b949e;
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#cc79a7}
@media (prefers-color-scheme:dark){:root{
--paper:#0f1318;--ink:#e6e9ed;--soft:#9aa4af;--grid:#242b33;--axis:#59636e;--shade:#59636e;
--s1:#56b4e9;--s2:#e69f00;--s3:#009e73;--s4:#cc79a7}}
@media print{:root{
--paper:#fff;--ink:#000;--soft:#444;--grid:#ddd;--axis:#777;--shade:#8b949e;
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#cc79a7}}
svg{display:block;width:100%;height:auto;font:12px system-ui,sans-serif;
font-variant-numeric:tabular-nums}
svg .grid{stroke:var(--grid);stroke-width:1}
svg .axis{stroke:var(--axis);stroke-width:1}
svg .tick,svg .axis-title,svg .shade-name{fill:var(--soft)}
svg .label{fill:var(--ink)}
svg .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
svg .simulated{fill:var(--s2);font-weight:600;letter-spacing:.04em}
svg .shade{fill:var(--shade);fill-opacity:.16;print-color-adjust:exact}
svg .shade-light{fill:var(--shade);fill-opacity:.07;print-color-adjust:exact}
svg .line{fill:none;stroke-width:2;stroke-linejoin:round}
svg .band{stroke-width:6;stroke-opacity:.5;stroke-linecap:round}
svg .dashed{stroke-dasharray:7 4}
svg .dotted{stroke-dasharray:1.5 4;stroke-linecap:round}
svg .drop{stroke:var(--axis);stroke-width:1;stroke-dasharray:2 3}
svg .area{stroke:none;fill-opacity:.14}
svg .mark{stroke:var(--paper);stroke-width:1.5}
svg .line.s1{stroke:var(--s1)}svg .area.s1,svg .mark.s1,svg .cell{fill:var(--s1)}
svg .line.s2{stroke:var(--s2)}svg .area.s2,svg .mark.s2{fill:var(--s2)}
svg .line.s3{stroke:var(--s3)}svg .area.s3,svg .mark.s3{fill:var(--s3)}
svg .line.s4{stroke:var(--s4)}svg .area.s4,svg .mark.s4{fill:var(--s4)}
svg .line.ink{stroke:var(--ink);stroke-width:1.5}
svg .cell{shape-rendering:crispEdges;print-color-adjust:exact}
svg .d1{fill-opacity:.12}svg .d2{fill-opacity:.26}svg .d3{fill-opacity:.44}
svg .d4{fill-opacity:.66}svg .d5{fill-opacity:.92}
svg .alarm{fill:none;stroke:var(--s2);stroke-width:2;stroke-linecap:round}
svg .hover{fill:transparent}svg .hover:hover{fill:var(--ink);fill-opacity:.07}
)css";
}

}  // namespace assay::report::svg
