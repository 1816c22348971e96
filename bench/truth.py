"""The truth beside a run: what `assay endpoint --truth-log` wrote, and between which values each
percentile of a run must lie for it.

Where a request was handed over is known from two sides: the client's `sent` is never later, and the
endpoint's `arrived_ns` never earlier. An event left between the beginning and the end of its write;
a log with holds has the ends of the writes that took long. So each value has a truth between two.
"""

import collections
import json
import math
import struct

METRICS = ["ttft", "tpot", "itl", "latency"]
FRAGMENTS = {0, 1, 2}  # categories with text: text, reasoning, tool call
Reply = collections.namedtuple("Reply", "arrived events")
Event = collections.namedtuple("Event", "category tokens at until")  # left between the two


def read_log(path):
    """{request id: Reply} of a truth log; docs/formats/truth_log.md has the grammar."""
    data = path.read_bytes()
    assert data[:8] == b"ASSAYTRU", path
    open_replies, replies, holds, at = {}, {}, {}, 32
    while at + 24 <= len(data):
        size, thread = struct.unpack_from("<IH", data, at + 4)
        assert data[at:at + 4] == b"TBLK"
        read_block(data[at + 24:at + 24 + size], thread, open_replies, replies, holds)
        at += 24 + size
    return replies


def read_block(block, thread, open_replies, replies, holds):
    at = 0
    while at < len(block):
        kind = block[at]
        number, = struct.unpack_from("<I", block, at + 4)
        if kind == 1:
            arrived, _, _, _, id_bytes = struct.unpack_from("<qIIHB", block, at + 8)
            name = block[at + 32:at + 32 + id_bytes].decode()
            open_replies[thread, number] = replies[name] = Reply(arrived, [])
            at += 32 + id_bytes
        elif kind == 2:
            instant, = struct.unpack_from("<q", block, at + 8)
            tokens, = struct.unpack_from("<H", block, at + 2)
            if (thread, number) in open_replies:
                until = holds.get((thread, instant), instant)
                open_replies[thread, number].events.append(
                    Event(block[at + 1], tokens, instant, until))
            at += 16
        elif kind == 4:
            begun, ended = struct.unpack_from("<qq", block, at + 8)
            holds[thread, begun] = ended
            at += 24
        else:
            open_replies.pop((thread, number), None)
            at += 24


def longest_write(replies):
    """How long the endpoint's longest write took, in ns; 0 where the log has no holds."""
    return max((event.until - event.at for reply in replies.values() for event in reply.events),
               default=0)


def sent_instants(events_jsonl):
    """{request id: the client's `sent`} of the queries that ended well."""
    sent, ended = {}, set()
    for line in events_jsonl.read_text().splitlines():
        event = json.loads(line)
        if event["event_type"] == "sample.issued":
            sent[event["sample_uuid"]] = event["timestamp_ns"]
        elif event["event_type"] == "sample.complete" and event.get("finish_reason"):
            ended.add(event["sample_uuid"])
    return {name: at for name, at in sent.items() if name in ended}


def series(replies, sent):
    """{metric: [(least, most), …]} in ns, one for each value of the run's series."""
    out = {metric: [] for metric in METRICS}
    for name, handed_over in sent.items():
        reply = replies[name]
        tokens = [event for event in reply.events if event.category in FRAGMENTS]
        first, end = tokens[0], reply.events[-1]
        out["ttft"].append((first.at - reply.arrived, first.until - handed_over))
        out["latency"].append((end.at - reply.arrived, end.until - handed_over))
        after = sum(event.tokens for event in tokens) - first.tokens
        if after > 0:
            out["tpot"].append(((end.at - first.until) / after, (end.until - first.at) / after))
        out["itl"] += [(b.at - a.until, b.until - a.at) for a, b in zip(tokens, tokens[1:])]
    return out


def percentile(values, p):
    return sorted(values)[math.floor(float(p) / 100 * (len(values) - 1))]


def compare(summary, truth):
    """[(metric, percentile, figure, (low, high), (truth least, truth most))] of a run's result."""
    rows = []
    for metric in METRICS:
        block = summary["assay"]["arrival"][metric]
        if not truth[metric]:
            continue
        assert len(truth[metric]) == sum(block["histogram"]["counts"]), metric
        for p in block["percentiles"]:
            rows.append((metric, p, block["percentiles"][p], block["limits"]["percentiles"][p],
                         tuple(percentile([value[i] for value in truth[metric]], p)
                               for i in (0, 1))))
    return rows


def held(row, tolerance_ns):
    """Whether the range of a row holds the truth, to within what the truth itself is worth."""
    _, _, _, (low, high), (least, most) = row
    return low - tolerance_ns <= most and least <= high + tolerance_ns
