"""Packages that no distribution holds: those of requirements.txt, where the installation put them."""

import os
import pathlib
import sys

FOLDER = pathlib.Path(
    os.environ.get("URD_INTEROP_PACKAGES")
    or pathlib.Path(__file__).resolve().parents[2] / ".build" / "interop")


def use():
    """Lets this Python find them, behind all that it has of its own."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
