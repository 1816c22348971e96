"""The container: its image built from the Containerfile by buildah, twice alike, and used."""

import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "package"))
from packages import Endpoint, packaged, run  # noqa: E402

# A user's builds are in a namespace of their own, where buildah is root.
BUILDAH = ["buildah"] if os.geteuid() == 0 else ["buildah", "unshare", "buildah"]


class Store:
    """Images in a folder of their own, by a driver that every file system has."""

    def __init__(self, folder):
        self.where = ["--storage-driver", "vfs", "--root", folder / "store",
                      "--runroot", folder / "runroot"]

    def __call__(self, *words):
        return run(*BUILDAH, *self.where, *words)

    def build(self, dist):
        self("build", "--isolation", "chroot", "--timestamp", "0", "--tag", "assay", dist)
        return self("images", "--no-trunc", "--quiet", "localhost/assay").strip()


@pytest.fixture(scope="module", name="dist")
def the_package(tmp_path_factory):
    dist = tmp_path_factory.mktemp("dist")
    packaged(dist, "container")
    return dist


def test_the_image_is_built_twice_alike_and_measures(dist, tmp_path):
    store = Store(tmp_path / "one")
    image = store.build(dist)
    assert image.startswith("sha256:")
    assert Store(tmp_path / "two").build(dist) == image
    config = json.loads(store("inspect", "--type", "image", "localhost/assay"))["OCIv1"]["config"]
    assert config["Entrypoint"] == ["/usr/bin/assay"] and config["WorkingDir"] == "/work"

    container = store("from", "--pull-never", "localhost/assay").strip()
    inside = [*BUILDAH, *store.where, "run", "--isolation", "chroot", container, "--",
              "/usr/bin/assay"]
    assert run(*inside, "--version").startswith("assay ")
    with Endpoint(*inside) as url:
        said = json.loads(run(*inside, "run", "--model", "m", "--concurrency", 4, "--samples", 60,
                              "--quiet", "--json", "--allow-client-limited", "--endpoint", url,
                              "--report-dir", "measured"))
    assert said["n_samples_completed"] == 60
