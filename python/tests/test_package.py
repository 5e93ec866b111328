"""The package itself: version, documentation that runs, types, notebooks, and what importing it takes along."""

import doctest
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import armix
from armix import _data, _estimators, _fit, _labels

PYTHON = Path(__file__).resolve().parents[1]


def test_one_version():
    versions = [tomllib.loads((PYTHON / name).read_text()) for name in ("Cargo.toml", "../Cargo.toml")]
    assert armix.__version__ == versions[0]["package"]["version"] == versions[1]["workspace"]["package"]["version"]


@pytest.mark.parametrize("module", [armix, _fit, _labels, _data, _estimators], ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module):
    assert doctest.testmod(module).failed == 0


def test_everything_public_is_documented():
    for name in armix.__all__:
        thing = getattr(armix, name)
        if name not in ("__version__", "BUILT_IN"):
            assert inspect.getdoc(thing), name
    for name, member in vars(armix.Fit).items():
        if not name.startswith("_"):
            assert inspect.getdoc(member), name


def test_importing_brings_numpy_and_nothing_else():
    heavy = "pandas polars scipy sklearn matplotlib networkx igraph arviz xarray tqdm IPython".split()
    code = f"import sys, armix; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_a_missing_package_is_named(fit, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match="pip install xarray"):
        fit.to_xarray()


def test_the_stubs_tell_the_truth():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "armix._armix", "--ignore-missing-stub"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types():
    done = subprocess.run([sys.executable, "-m", "mypy", "-p", "armix"], capture_output=True, text=True, cwd=PYTHON)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("readme", [PYTHON / "README.md", PYTHON.parent / "README.md"], ids=["package", "project"])
def test_the_readme_runs(readme, monkeypatch, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, str(readme), "exec"), {})


@pytest.mark.parametrize("path", sorted((PYTHON / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(path, request):
    notebook = nbformat.read(path, as_version=4)
    if "shared" in notebook.metadata.get("needs", []):
        request.getfixturevalue("shared")
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
