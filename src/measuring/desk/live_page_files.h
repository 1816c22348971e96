// The files of the live page (live_page.h): plain HTML, a style sheet and a script without
// dependencies.
#pragma once

#include <string_view>

namespace assay::desk {

inline constexpr std::string_view kLiveHtml = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>assay client</title>
<link rel="stylesheet" href="/live.css">
</head>
<body>
<main>
<h1 id="model">assay client</h1>
<p id="server"></p>
<p id="state" role="status">waiting for the run</p>
<label for="progress" id="doing">inferences</label>
<progress id="progress" value="0" max="1"></progress>
<dl>
<div><dt>Time to first token</dt><dd><span id="ttft">-</span> <small>ms, median</small></dd></div>
<div><dt>Speed</dt><dd><span id="rate">-</span> <small>tokens/s, median</small></dd></div>
<div><dt>Inferences</dt><dd><span id="done">0</span> <small id="planned"></small></dd></div>
<div><dt>Failed</dt><dd><span id="failed">0</span></dd></div>
</dl>
<p id="folder"></p>
</main>
<script src="/live.js"></script>
</body>
</html>
)";

inline constexpr std::string_view kLiveCss = R"(:root { color-scheme: light dark; }
body { margin: 0; font-family: system-ui, sans-serif; background: Canvas; color: CanvasText; }
main { max-width: 110rem; margin: 0 auto; padding: clamp(1rem, 3vw, 4rem); }
h1 { font-size: clamp(1.4rem, 4vw, 4rem); margin: 0; overflow-wrap: anywhere; }
p { font-size: clamp(1rem, 1.6vw, 2rem); overflow-wrap: anywhere; }
label { font-size: clamp(1rem, 1.6vw, 2rem); }
progress { display: block; width: 100%; height: clamp(1rem, 2vw, 2.5rem); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr));
  gap: 1rem; }
dl div { border: 1px solid GrayText; border-radius: .5rem; padding: 1rem; }
dt { font-size: clamp(1rem, 1.6vw, 2rem); }
dd { margin: 0; line-height: 1.1;
  font-size: clamp(2rem, 5vw, 7rem); font-variant-numeric: tabular-nums; }
small { display: block; font-size: clamp(.9rem, 1.4vw, 1.6rem); }
)";

inline constexpr std::string_view kLiveJs = R"('use strict';
const put = (id, text) => { document.getElementById(id).textContent = text; };
const shown = (value, digits) => value === null ? '-' : value.toFixed(digits);
const ask = async () => {
  try {
    const reply = await fetch('/figures');
    if (reply.status === 401) {
      put('state', 'open the page by the address that was printed');
      return;
    }
    const told = await reply.json();
    put('model', told.model);
    put('server', told.server);
    put('folder', 'The result will stand in ' + told.folder);
    put('state', told.running ? 'running' : 'no run is under way');
    put('doing', told.category || 'inferences');
    put('ttft', shown(told.ttft_ms, 1));
    put('rate', shown(told.tokens_per_s, 1));
    put('done', String(told.done));
    put('planned', 'of ' + told.planned);
    put('failed', String(told.failed));
    const bar = document.getElementById('progress');
    bar.max = told.planned;
    bar.value = told.done;
  } catch {
    put('state', 'the run has ended');
    return;
  }
  setTimeout(ask, 1000);
};
ask();
)";

}  // namespace assay::desk
