"""Errors of the serving model as one SVG picture: predicted over measured, by concurrency.

Only tools/calibrate_serving_model.py uses it. Ratios are drawn, never the measured points, which
are not ours to publish here.
"""

import math

PANELS = [(("l70", "llama3.1-8b", "qwen3-32b"), "Dense models"),
          (("gptoss", "minimax-m2.5", "qwen3-235b-a22b", "qwen3.5-397b-a17b"), "Mixtures"),
          (("dsr1",), "DeepSeek-R1")]
ROWS = [(0, "TPOT", 0.5, 2.0), (2, "TTFT", 0.25, 4.0)]
WIDTH, HEIGHT, LEFT, TOP, GAP = 290, 190, 44, 46, 26
STYLE = """<style>
text{font:11px system-ui,sans-serif;fill:#57606a}.title{font-weight:600;fill:#24292f}
.grid{stroke:#d0d7de;stroke-width:1}.one{stroke:#57606a;stroke-width:1}
.band{fill:#0969da;fill-opacity:.08}.dot{fill:#0969da;fill-opacity:.55}
@media(prefers-color-scheme:dark){text{fill:#9198a1}.title{fill:#f0f6fc}.grid{stroke:#3d444d}
.one{stroke:#9198a1}.dot{fill:#4493f8}}
</style>"""


def place(value, low, high, size):
    share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    return min(max(share, 0), 1) * size


def panel(x0, y0, title, low, high, dots):
    """dots: (concurrency, predicted over measured); those outside lie on the edge."""
    out = [f'<text class="title" x="{x0}" y="{y0 - 10}">{title}</text>']
    for ratio, y_class in ((low, "grid"), (1 / 1.1, ""), (1, "one"), (high, "grid")):
        y = y0 + HEIGHT - place(ratio, low, high, HEIGHT)
        if not y_class:
            top = y0 + HEIGHT - place(1.1, low, high, HEIGHT)
            out.append(f'<rect class="band" x="{x0}" y="{top:.1f}" width="{WIDTH}" '
                       f'height="{y - top:.1f}"/>')
            continue
        out.append(f'<line class="{y_class}" x1="{x0}" y1="{y:.1f}" x2="{x0 + WIDTH}" '
                   f'y2="{y:.1f}"/><text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{ratio:g}×</text>')
    for concurrency in (4, 16, 64, 256):
        x = x0 + place(concurrency, 2, 640, WIDTH)
        out.append(f'<text x="{x:.1f}" y="{y0 + HEIGHT + 15}" text-anchor="middle">'
                   f'{concurrency}</text>')
    for index, (concurrency, ratio) in enumerate(dots):
        x = x0 + place(concurrency, 2, 640, WIDTH) + 5 * math.sin(2.4 * index)
        y = y0 + HEIGHT - place(ratio, low, high, HEIGHT)
        out.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.2"/>')
    return "\n".join(out)


def picture(points, errors):
    """points and errors as calibrate_serving_model.py has them."""
    width = LEFT + len(PANELS) * (WIDTH + LEFT)
    height = TOP + len(ROWS) * (HEIGHT + TOP + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
           'aria-label="Predicted over measured TPOT and TTFT by concurrency, curves that the fit '
           f'had not seen">\n{STYLE}']
    for row, (key, name, low, high) in enumerate(ROWS):
        for column, (models, title) in enumerate(PANELS):
            dots = [(p["C"], 1 + e[key]) for p, e in zip(points, errors) if p["m"] in models]
            out.append(panel(LEFT + column * (WIDTH + LEFT), TOP + row * (HEIGHT + TOP + GAP),
                             f"{title}: {name} by concurrency", low, high,
                             dots))
    return "\n".join(out) + "\n</svg>\n"
