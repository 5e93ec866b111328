"""What several tests need: the command line, real data, and one fit of the karate club."""

import os
import warnings
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "Agg")

import networkx as nx
import pytest

import armix

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def cli():
    """The command line of the same build."""
    path = Path(os.environ.get("ARMIX_CLI", ROOT / "target" / "release" / "armix"))
    if not path.exists():
        pytest.skip(f"the command line is not built: there is no {path}")
    return path


@pytest.fixture(scope="session")
def shared():
    """Real networks and tables."""
    path = ROOT.parent / "shared" / "data"
    if not path.exists():
        pytest.skip("real networks and tables are not there (../shared)")
    return path


@pytest.fixture(scope="session")
def karate():
    return nx.karate_club_graph()


@pytest.fixture(scope="session")
def fit(karate):
    """Not to be changed by tests."""
    return armix.fit(karate, chains=8, iterations=300)


SMALL = dict(iterations=40, warmup=5, ensembles=2, chains=2, progress=False)


@pytest.fixture
def small():
    """Settings of a fit that takes no time."""
    return dict(SMALL)
