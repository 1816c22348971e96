"""The stock module's name for assay.loadgen."""

from assay.loadgen import *  # noqa: F401,F403
