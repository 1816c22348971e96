"""What an engine's release changes: a second fit, on top of one that is held fast.

A model that an engine ran in one format under several releases has a factor for each of them,
fitted to what the first fit leaves of its rows and pulled towards 1 as those are. It tells the
releases apart and moves nothing else: who does not tell a release gets what the first fit says.
Only tools/calibrate_serving_model.py uses it.
"""

import collections

import numpy as np

from serving_fit import Fit, subject

# Without the card: an engine changes its kernels for all that it runs on.
SYSTEM = ("model", "backend", "precision")
# How much of a constant's spread; decision 279 has what others give.
SHARE = 0.4


def begins(release, version):
    """As a filter of the catalogue matches: 1.1 is 1.1.0rc2 too, and not 1.10."""
    return version == release or version.startswith(release + ".")


class Releases(Fit):
    def __init__(self, first, points):
        super().__init__(points, [((*SYSTEM, "version"), SHARE)])
        self.first = first
        found = collections.defaultdict(set)
        for p in points:
            found[self.key(p, SYSTEM)].add(p["version"])
        # One release alone can not be told from its system. Number 0 is of who told none.
        self.known = {system: sorted(versions - {""}) for system, versions in found.items()
                      if len(versions) > 1}
        names = [(*system, version) for system, versions in sorted(self.known.items())
                 for version in versions]
        self.groups = [{name: i + 1 for i, name in enumerate(names)}]
        self.theta = [np.zeros((1 + len(names), len(self.spread)))]

    @staticmethod
    def key(point, keys):
        s = dict(subject(point), version=point["version"])
        return tuple(s[k] for k in keys)

    def group(self, system, version):
        """Of the longest known release that the version begins with."""
        fitting = [r for r in self.known.get(system, ()) if begins(r, version)]
        return self.groups[0][(*system, max(fitting, key=len))] if fitting else 0

    def index(self, points):
        return [np.array([self.group(self.key(p, SYSTEM), p["version"]) for p in points], int)]

    def bases(self, points):
        return self.first.logs_of(points)

    def solve(self, points, ttft_counts, **options):
        told = [p for p, i in zip(points, self.index(points)[0]) if i]
        return super().solve(told, ttft_counts, **options) if told else self

    def adjustments(self):
        """(when, logarithms of the factors): of a release that begins with another, over those,
        because both match it."""
        factors = self.theta[0] * self.spread * self.shares[0]
        for (*system, version), i in self.groups[0].items():
            shorter = [r for r in self.known[tuple(system)] if begins(r, version) and r != version]
            less = factors[self.groups[0][(*system, max(shorter, key=len))]] if shorter else 0
            yield dict(zip((*SYSTEM, "version"), (*system, f'"{version}"'))), factors[i] - less
