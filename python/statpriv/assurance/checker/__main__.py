"""Runs the checker: this folder, wherever it is, or the module statpriv.assurance.checker."""

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType


def _package() -> ModuleType:
    """The package of this file."""
    if __package__:
        return import_module(__package__)
    # Python has put this folder at the front of the module search path, where its files could shadow the standard
    # library. The folder is removed from the path, and the package is loaded by its location.
    folder = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120
    sys.path = [place for place in sys.path if os.path.realpath(place) != folder]
    start = os.path.join(folder, "__init__.py")  # noqa: PTH118
    spec = spec_from_file_location("checker", start, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"{start} is no file of Python")
    package = sys.modules["checker"] = module_from_spec(spec)
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    sys.exit(_package().main(sys.argv[1:]))
