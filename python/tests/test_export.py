"""Other programs: ArviZ, xarray, matplotlib."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest

import armix


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_xarray(fit):
    data = fit.to_xarray()
    assert data.sizes == {"chain": 32, "draw": 150}
    assert data["ensemble"].dims == ("chain",) and data["ensemble"].values.tolist() == np.repeat(range(4), 8).tolist()
    assert np.array_equal(data["log_joint"].values[9], fit.log_joint[1, 1, 150:])
    full = fit.to_xarray(labels=True, burn_in=100)
    assert full["labels"].dims == ("chain", "draw", "item") and full.sizes["draw"] == 200
    assert np.array_equal(full["labels"].values[8], fit.draws[1, 0, 100:])


def test_arviz(fit):
    data = fit.to_arviz()
    table = az.summary(data)
    assert "log_joint" in table.index
    assert az.plot_trace(data, var_names=["log_joint", "blocks"]) is not None
    flat = fit.log_joint.reshape(32, -1)[:, 150:]
    assert armix.rhat(flat) == pytest.approx(float(az.rhat(data)["log_joint"]), rel=1e-10)


def test_plots(fit, small, tmp_path):
    for ax in (
        fit.plot_trace(),
        fit.plot_trace(quantity="blocks"),
        fit.plot_trace(quantity="fraction_1"),
        fit.plot_similarity(),
        fit.plot_network(),
        fit.plot_network(kind="matrix"),
        fit.plot_network(labels=[0] * 34, names=False, layout=np.zeros((34, 2))),
    ):
        ax.figure.savefig(tmp_path / "plot.png")
        assert (tmp_path / "plot.png").stat().st_size > 1000
    axes = plt.subplots()[1]
    assert fit.plot_trace(axes) is axes
    assert len(fit.plot_trace().lines) == 32
    with pytest.raises(ValueError, match="log_joint"):
        fit.plot_trace(quantity="speed")
    with pytest.raises(ValueError, match="graph"):
        fit.plot_network(kind="pie")
    table = armix.fit("bernoulli-1", **small)
    table.plot_similarity()
    with pytest.raises(TypeError, match="plot_similarity"):
        table.plot_network()


def test_vertices_have_the_colours_of_their_blocks(fit):
    ax = fit.plot_network()
    colours = [tuple(colour) for colour in ax.collections[-1].get_facecolors()]
    assert armix.vi(fit.labels(), [str(colour) for colour in colours]) == 0
