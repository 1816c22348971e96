"""A search for the peak with a system under test of a known capacity, in a process of its own.

    loadgen_peak.py CAPACITY BASE STEP DECIMALS FOLDER

The module is the one that `import mlperf_loadgen` finds: ours or the stock one. The system answers
at once up to its capacity, and above it when the whole series was issued and the limit has passed.
How fast it is asked it cannot measure to the decimal: it follows the search as LoadGen's sources
have it. A search that asks other rates shows as another list of rates in the detail log.
"""

import math
import sys
import threading

import mlperf_loadgen as module

LIMIT_S = 0.3


class Search:
    """The rates that the search asks, one after the other."""

    def __init__(self, base, step, decimals):
        self.lower, self.upper, self.step, self.scale = base, None, step, 10 ** decimals
        self.rate = base
        self.begun = False

    def next(self, held):
        if not self.begun:
            self.begun = True
        elif not held:
            self.upper = self.rate
        else:
            self.lower = self.rate
        if self.upper is None:
            self.rate = self.lower * (1 + self.step)
        else:
            self.rate = self.lower + (self.upper - self.lower) / 2


def main():
    capacity, base = float(sys.argv[1]), float(sys.argv[2])
    step, decimals, folder = int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    search = Search(base, step, decimals)
    waiting = []

    def issue(samples):
        answers = [module.QuerySampleResponse(sample.id, 0, 0) for sample in samples]
        if search.rate <= capacity:
            module.QuerySamplesComplete(answers)
        else:
            waiting.extend(answers)

    def flush():
        held = search.rate <= capacity
        if not held:
            threading.Event().wait(LIMIT_S + 0.1)  # a system that is over its capacity is late
            module.QuerySamplesComplete(waiting)
            waiting.clear()
        search.next(held)

    settings = module.TestSettings()
    settings.scenario = module.TestScenario.Server
    settings.mode = module.TestMode.FindPeakPerformance
    settings.server_target_qps = base
    settings.server_target_latency_ns = int(LIMIT_S * 1e9)
    settings.server_find_peak_qps_boundary_step_size = step
    settings.server_find_peak_qps_decimals_of_precision = decimals
    settings.min_duration_ms = 0
    settings.min_query_count = 100
    sut = module.ConstructSUT(issue, flush)
    rows = module.ConstructQSL(64, 64, lambda rows: None, lambda rows: None)
    logs = module.LogSettings()
    logs.log_output.outdir = folder
    logs.enable_trace = False
    module.StartTestWithLogSettings(sut, rows, settings, logs, "none")
    module.DestroyQSL(rows)
    module.DestroySUT(sut)
    assert math.isfinite(search.rate)


main()
