"""The notebooks, executed from their first cell to their last. Their cells hold the claims."""

import os
import pathlib

import nbclient
import nbformat
import pytest

import pages

PROGRAM = pathlib.Path(os.environ.get("ASSAY_BIN",
                                      pages.ROOT / "build/release/assay")).resolve()
NOTEBOOKS = sorted((pages.ROOT / "docs" / "notebooks").glob("*.ipynb"))


def shown(notebook):
    return [output.get("data", {}) for cell in notebook.cells if cell.cell_type == "code"
            for output in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_BIN", str(PROGRAM))
    monkeypatch.setenv("PYTHONPATH", str(PROGRAM.with_name("python")))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "committed without outputs"
    nbclient.NotebookClient(notebook, timeout=120,
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    views = [data["text/html"] for data in shown(notebook) if "text/html" in data]
    assert any("<table" in view for view in views)


def test_there_are_two():
    assert len(NOTEBOOKS) == 2
