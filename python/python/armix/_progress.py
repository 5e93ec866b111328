"""How far a run is: a bar of tqdm in terminals and notebooks, and the user's callback."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class Progress:
    """Where a run is; what a callback is given about ten times a second."""

    iteration: int
    """Iterations done; negative during warm-up."""
    iterations: int
    """Iterations asked for."""
    log_joint: list[float]
    """The mean log joint of the chains of each ensemble."""
    blocks: list[float]
    """The mean number of blocks of the chains of each ensemble."""
    accept_rate: list[float | None]
    """The share of proposals accepted in each ensemble."""


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return running is not None and "IPKernelApp" in getattr(running, "config", {})


def _bar(progress: bool | None, iterations: int):
    if progress is False:
        return None
    if progress is None and not (_in_notebook() or (sys.stderr is not None and sys.stderr.isatty())):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    # In a notebook without widgets a bar of text does.
    try:
        return tqdm(total=iterations, unit="it", desc="warm-up", leave=True)
    except ImportError:
        from tqdm import tqdm as plain

        return plain(total=iterations, unit="it", desc="warm-up", leave=True)


class Display:
    """Tells bar and callback; close it when the run is over."""

    def __init__(self, progress: bool | None, callback: Callable[[Progress], Any] | None, iterations: int):
        if callback is not None and not callable(callback):
            raise TypeError("callback= must be a function of one argument, the progress")
        self._bar = _bar(progress, iterations)
        self._callback = callback

    def hook(self) -> Callable | None:
        """What the engine is to call, if there is anyone to tell."""
        return None if self._bar is None and self._callback is None else self._tell

    def _tell(self, done: int, iterations: int, status: list[tuple[float, float, float | None]]) -> None:
        log_joint, blocks, accept = [s[0] for s in status], [s[1] for s in status], [s[2] for s in status]
        if self._bar is not None:
            if done > 0:
                self._bar.set_description("sampling", refresh=False)
            self._bar.total = iterations
            self._bar.n = max(done, 0)
            mean = sum(log_joint) / len(log_joint)
            self._bar.set_postfix_str(f"log joint {mean:.1f}, {sum(blocks) / len(blocks):.1f} blocks")
        if self._callback is not None:
            self._callback(Progress(done, iterations, log_joint, blocks, accept))

    def close(self) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()
