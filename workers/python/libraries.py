"""What all workers here have of the libraries that they stand on: their versions, what to do where one is missing, event loops."""

import importlib
import importlib.metadata

import netdyno_kit as kit


def versions(*names):
    """Returns the versions of packages by their names; empty of one that is not installed."""
    return {name: _version(name) for name in names}


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def require(transport, found, *names):
    """Raises a Failure of kind unsupported for a package that a setup needs and versions did not find."""
    for name in names:
        if found.get(name, "there") == "":
            raise kit.Failure("unsupported", f"transport {transport} needs module {name}, which is not installed; have it by: make -C kits/python build")


def loop_option(default):
    return kit.Option("loop", "choice", default, "event loop: asyncio's own, or uvloop, which is libuv's", choices=("asyncio", "uvloop"), grid=("asyncio", "uvloop"))


def new_loop(name):
    """Returns an event loop by its name."""
    return importlib.import_module(name).new_event_loop()
