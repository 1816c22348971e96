"""Assay in Python. `assay.loadgen` has the interface of MLPerf's LoadGen."""
