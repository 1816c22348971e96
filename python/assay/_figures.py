"""Results as objects: what the program prints with --json, with names and a notebook view."""

from __future__ import annotations

import html
import json
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

Json = Dict[str, Any]


def milliseconds(ns: Optional[float]) -> str:
    if ns is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}" if abs(ns) < 1e12 else f"{ns / size:,.0f} {unit}"
    return f"{ns:.0f} ns"


def table_html(head: List[str], rows: List[List[str]], caption: str = "") -> str:
    """A table for notebooks; every text is escaped."""
    def row(cells: List[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    top = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return (f"<table>{top}<thead>{row(head, 'th')}</thead><tbody>"
            + "".join(row(cells, "td") for cells in rows) + "</tbody></table>")


class Figure:
    """One series in numbers, in the unit of its values: nanoseconds for times, else tokens."""

    def __init__(self, name: str, block: Json) -> None:
        self.name = name
        self.json = block

    def __bool__(self) -> bool:
        return bool(self.json)

    @property
    def mean(self) -> Optional[float]:
        return self.json.get("avg")

    @property
    def min(self) -> Optional[float]:
        return self.json.get("min")

    @property
    def max(self) -> Optional[float]:
        return self.json.get("max")

    @property
    def median(self) -> Optional[float]:
        return self.json.get("median")

    @property
    def percentiles(self) -> Dict[float, float]:
        return {float(p): value for p, value in self.json.get("percentiles", {}).items()}

    def p(self, percentile: float) -> Optional[float]:
        """One of the percentiles in the result (1, 5, 10, 25, 50, 75, 80, 90, 95, 97, 99, 99.9).

        None where the series is empty; ValueError for another percentile. Run.percentile() has all.
        """
        if not self.json:
            return None
        for p, value in self.percentiles.items():
            if p == percentile:
                return value
        raise ValueError(f"no percentile {percentile:g} in a result; there are "
                         + ", ".join(f"{p:g}" for p in sorted(self.percentiles)))

    def __repr__(self) -> str:
        if not self.json:
            return f"<{self.name}: no values>"
        show = milliseconds if self.name not in ("isl", "osl") else "{:g}".format
        return (f"<{self.name}: P50 {show(self.p(50))}, P90 {show(self.p(90))}, "
                f"P99 {show(self.p(99))}>")


class Summary(Mapping[str, Any]):
    """result_summary.json: a mapping of the JSON's keys, and the figures by name."""

    def __init__(self, document: Json) -> None:
        self.json = document

    def __getitem__(self, key: str) -> Any:
        return self.json[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def _series(self, name: str) -> Figure:
        return Figure(name, self.json.get("assay", {}).get("arrival", {}).get(name) or {})

    @property
    def ttft(self) -> Figure:
        return self._series("ttft")

    @property
    def ttft_due(self) -> Figure:
        return self._series("ttft_due")

    @property
    def ttft_visible(self) -> Figure:
        return self._series("ttft_visible")

    @property
    def tpot(self) -> Figure:
        return self._series("tpot")

    @property
    def itl(self) -> Figure:
        return self._series("itl")

    @property
    def latency(self) -> Figure:
        return self._series("latency")

    @property
    def latency_due(self) -> Figure:
        return self._series("latency_due")

    @property
    def isl(self) -> Figure:
        return Figure("isl", self.json.get("input_sequence_lengths") or {})

    @property
    def osl(self) -> Figure:
        return Figure("osl", self.json.get("output_sequence_lengths") or {})

    @property
    def issued(self) -> int:
        return int(self.json["n_samples_issued"])

    @property
    def completed(self) -> int:
        return int(self.json["n_samples_completed"])

    @property
    def failed(self) -> int:
        return int(self.json["n_samples_failed"])

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end."""
        return bool(self.json["complete"])

    @property
    def system_tps(self) -> Optional[float]:
        return self.json.get("system_tps")

    @property
    def tps_per_user(self) -> Optional[float]:
        return self.json.get("tps_per_user")

    @property
    def qps(self) -> Optional[float]:
        return self.json.get("qps")

    @property
    def client(self) -> Optional[str]:
        """The verdict on the client: innocent, suspected, guilty; None where it left no record."""
        said = self.json.get("client") or {}
        return said.get("client_limited")

    @property
    def warnings(self) -> List[str]:
        return list(self.json.get("assay", {}).get("warnings", []))

    def __repr__(self) -> str:
        return (f"<Summary: {self.completed} of {self.issued} completed, {self.ttft!r}, "
                f"{self.tpot!r}>")

    def _repr_html_(self) -> str:
        rows = []
        for label, figure in (("TTFT", self.ttft), ("TPOT", self.tpot), ("ITL", self.itl),
                              ("latency", self.latency)):
            if figure:
                rows.append([label, *(milliseconds(figure.p(p)) for p in (50, 90, 99, 99.9)),
                             milliseconds(figure.mean), milliseconds(figure.max)])
        tps = "–" if self.system_tps is None else f"{self.system_tps:,.0f} tok/s"
        user = "–" if self.tps_per_user is None else f"{self.tps_per_user:,.0f} tok/s a user"
        caption = f"{self.completed:,} of {self.issued:,} queries completed; {tps}; {user}"
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.warnings)
        return table_html(["", "P50", "P90", "P99", "P99.9", "mean", "max"], rows, caption) + notes


def json_html(value: Any) -> str:
    """Any JSON as a notebook shows it: the first level as a table."""
    if isinstance(value, dict):
        return table_html(["", ""], [[key, text_of(entry)] for key, entry in value.items()])
    return "<pre>" + html.escape(json.dumps(value, indent=2, ensure_ascii=False)) + "</pre>"


def text_of(value: Union[Json, List[Any], str, float, None]) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "…"
