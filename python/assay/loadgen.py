"""LoadGen's interface on Assay's loop: a system under test in this process is asked as MLPerf
Inference's LoadGen 6.0.17 would ask it. docs/guide/loadgen.md.

`import mlperf_loadgen` finds the same names where this package's folder stands before the stock
module's, so that a program which was written for that module runs unchanged.
"""

from assay._loadgen import *  # noqa: F401,F403
