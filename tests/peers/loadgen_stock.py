"""Runs one test of the stock LoadGen in a process of its own: its settings are read once a process.

Standard input is a JSON object (see loadgen_test.py); standard output gets what the library asked
of the system under test. The four logs are left in the folder that the object names.
"""

import array
import json
import sys

import mlperf_loadgen as stock


def main():
    spec = json.load(sys.stdin)
    settings = stock.TestSettings()
    settings.scenario = getattr(stock.TestScenario, spec["scenario"])
    settings.FromConfig(spec["config"], spec["model"], spec["scenario"])
    if spec.get("mode"):
        settings.mode = getattr(stock.TestMode, spec["mode"])
    fields = {name: getattr(settings, name) for name in dir(settings)
              if not name.startswith("_") and name != "FromConfig"}
    issued = []
    tokens = spec.get("tokens")

    def issue(samples):
        issued.append([sample.index for sample in samples])
        rows = array.array("Q", issued[-1])
        begin, size = (rows.buffer_info()[0], 8) if spec.get("payload") else (0, 0)
        answers = [stock.QuerySampleResponse(sample.id, begin + size * place, size, tokens or 0)
                   for place, sample in enumerate(samples)]
        if tokens is not None:
            stock.FirstTokenComplete(answers)
        stock.QuerySamplesComplete(answers)

    sut = stock.ConstructSUT(issue, lambda: None)
    library = stock.ConstructQSL(spec["samples"], spec.get("loaded", spec["samples"]),
                                 lambda samples: None, lambda samples: None)
    logs = stock.LogSettings()
    logs.log_output.outdir = spec["folder"]
    logs.enable_trace = True
    stock.StartTestWithLogSettings(sut, library, settings, logs, spec.get("audit", "none"))
    stock.DestroyQSL(library)
    stock.DestroySUT(sut)
    json.dump({"fields": {name: value if isinstance(value, (int, float)) else value.name
                          for name, value in fields.items()}, "issued": issued}, sys.stdout)


main()
