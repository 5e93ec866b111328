"""Packages that only some functions need: what to say if they are missing."""

import importlib
from types import ModuleType


def need(name: str, purpose: str) -> ModuleType:
    """Imports a package, or says what it is needed for and how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(name.split(".")[0], name.split(".")[0])
        message = f"{purpose} needs {package}: install it with `pip install {package}`"
        raise ImportError(message) from error
