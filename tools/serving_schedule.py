"""The batches that a closed-loop point goes through, whatever its step times.

In a closed loop without think time a query arrives when another ends, so which steps follow which
does not depend on how long they take. A point is therefore a list of batches with weights: its mean
TPOT and TTFT are sums of step times, and fitting needs no simulation. A client sends one query
after another, so the idle engine's first step has one prompt, the next the rest. The engine is
src/instrument/sim/worker.cc; this is its shadow for calibration, and calibrate_serving_model.py
checks the outcome against the binary.
"""

import collections
import heapq
import math
import random

Batch = collections.namedtuple(
    "Batch", "sequences rank_sequences rank_context prefill rank_prefill rank_work steps "
    "tpot_weight ttft_weight")


class Rank:
    """What one attention rank holds."""

    def __init__(self):
        self.waiting = collections.deque()  # [query, tokens left, tokens done]
        self.sequences = 0
        self.context = self.kv_used = 0.0


class Loop:
    """One closed loop: `concurrency` queries at once, ten times as many in all."""

    def __init__(self, point, drafts_gain):
        rng = random.Random(1)
        isl, osl = point["isl"], point["osl"]
        self.count = 10 * point["C"]
        low = 1 if point["fixed"] else 0.8
        self.queries = [(rng.randint(int(low * isl), isl), rng.randint(int(low * osl), osl))
                        for _ in range(self.count)]
        self.gain = drafts_gain
        self.steps_of = [max(1, round((o - 1) / drafts_gain)) for _, o in self.queries]
        self.prefill_first = point["backend"] == "sglang"
        self.reserves = self.whole = point["backend"] == "trtllm"
        self.prompts_max = point["prompts"] or 10**9
        self.budget, self.tokens_each = point["budget"], 1 + point["drafts"]
        self.poll = point["poll"]
        self.since_poll = 0
        self.ranks = [Rank() for _ in range(max(1, point["dp"]))]
        self.hold = 60 if self.reserves and len(self.ranks) > 1 else 0
        self.held = 0  # steps in which not every rank had a prompt
        self.kv_tokens = point["kv_tokens"] / len(self.ranks)
        self.arriving = collections.deque()
        self.running = []  # (step at which it ends, query)
        self.step = self.done = self.issued = 0
        self.rate = 0.0
        self.rank_of = {}
        self.batches = []

    def issue(self):
        if self.issued < self.count:
            self.arriving.append(self.issued)
            self.issued += 1

    def arrive(self, at_most=10**9):
        for _ in range(min(at_most, len(self.arriving))):
            query = self.arriving.popleft()
            rank = min(self.ranks, key=lambda r: r.sequences + len(r.waiting))
            rank.waiting.append([query, self.queries[query][0], 0])
            self.rank_of[query] = rank

    def holds(self):
        """Attention-DP balancing: prompts wait until every rank has one, not for ever."""
        if not self.hold:
            return False
        if all(r.waiting for r in self.ranks):
            self.held = 0
            return False
        self.held += 1
        if self.held >= self.hold or not all(r.sequences for r in self.ranks):
            self.held = 0
            return False
        return True

    def gather(self, rank, complete):
        """Prompt tokens of the rank's next step, and their work."""
        room = self.budget - (0 if self.prefill_first else rank.sequences * self.tokens_each)
        tokens, work, prompts = 0, 0.0, 0
        while rank.waiting and room > 0 and prompts < self.prompts_max:
            query, left, done = entry = rank.waiting[0]
            if self.whole and left > room and tokens:
                break
            if not done:
                prompt, output = self.queries[query]
                need = prompt + (output if self.reserves else 0)
                if rank.kv_used + need > self.kv_tokens:
                    break
                rank.kv_used += need
            chunk = left if self.whole else min(left, room)
            tokens += chunk
            work += chunk * (done + chunk / 2)
            prompts += 1
            room -= chunk
            entry[1] -= chunk
            entry[2] += chunk
            if entry[1]:
                break
            complete.append(query)
            rank.waiting.popleft()
        return tokens, work

    def start(self, query):
        prompt, output = self.queries[query]
        rank = self.rank_of[query]
        heapq.heappush(self.running, (self.step + self.steps_of[query], query))
        rank.sequences += 1
        rank.context += prompt + 1
        self.rate += 1 / (output - 1)
        if not self.reserves:
            rank.kv_used += 1

    def advance(self, steps):
        self.step += steps
        for rank in self.ranks:
            grown = rank.sequences * steps * self.gain
            rank.context += grown
            if not self.reserves:
                rank.kv_used += grown
        while self.running and self.running[0][0] <= self.step:
            _, query = heapq.heappop(self.running)
            prompt, output = self.queries[query]
            rank = self.rank_of.pop(query)
            held = prompt + 1 + self.steps_of[query] * self.gain
            rank.sequences -= 1
            rank.context -= held
            rank.kv_used -= prompt + output if self.reserves else held
            self.rate -= 1 / (output - 1)
            self.done += 1
            self.issue()

    def record(self, chunks, decodes, steps, waiting):
        self.batches.append(Batch(
            sum(r.sequences for r in self.ranks) if decodes else 0,
            max(r.sequences for r in self.ranks) if decodes else 0,
            max(r.context + self.gain * r.sequences * (steps - 1) / 2
                for r in self.ranks) if decodes else 0,
            sum(c for c, _ in chunks), max(c for c, _ in chunks), max(w for _, w in chunks), steps,
            steps * self.rate / self.count, steps * waiting / self.count))

    def steps_ahead(self, waiting):
        steps = self.running[0][0] - self.step
        if self.arriving:
            steps = min(steps, max(1, self.poll - self.since_poll))
        if self.hold and waiting:
            steps = max(1, min(steps, self.hold - self.held))
        return steps

    def look(self, steps, at_once):
        """An arrival is seen one step later: the one under way was put together before. While
        decoding, some engines look for arrivals only every so many steps."""
        self.since_poll += steps
        if at_once or self.since_poll >= self.poll:
            self.arrive()
            self.since_poll = 0 if at_once else self.since_poll % self.poll

    def run(self):
        for _ in range(min(self.count // 10, self.count)):
            self.issue()
        self.arrive(1)
        while self.done < self.count:
            complete = []
            holding = self.holds()
            chunks = [(0, 0.0) if holding else self.gather(r, complete) for r in self.ranks]
            prefills = any(c for c, _ in chunks)
            waiting = sum(len(r.waiting) for r in self.ranks)
            decodes = bool(self.running) and not (prefills and self.prefill_first)
            steps = 1
            if not prefills and self.running:
                steps = self.steps_ahead(waiting)
                if self.hold:
                    self.held = (self.held + steps - 1) % self.hold
            if prefills or self.running:
                self.record(chunks, decodes, steps,
                            waiting + len(self.arriving) + len(complete))
            self.look(steps, not self.running or prefills and self.prefill_first)
            if decodes:
                self.advance(steps)
            for query in complete:
                self.start(query)
        return compress(self.batches), sum(o for _, o in self.queries) / self.count


def compress(batches):
    """Batches that are nearly equal as one, with the sums of their weights."""
    def bucket(value, width):
        return -1 if value <= 0 else int(math.log(value) / width)

    groups = {}
    for b in batches:
        key = (bucket(b.sequences, 0.04), bucket(b.rank_context, 0.12), bucket(b.prefill, 0.08),
               bucket(b.rank_work, 0.15))
        sums = groups.setdefault(key, [0.0] * 9)
        for i in range(6):
            sums[i] += b[i] * b.steps
        for i in range(6, 9):
            sums[i] += b[i]
    return [[s / g[6] for s in g[:6]] + g[6:] for g in groups.values()]
