"""Packs a worker and the kit into one file that runs: pack.py FOLDER TO. The file is a shell script with a zip archive behind it."""

import os
import pathlib
import py_compile
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent

LAUNCHER = """#!/bin/sh
# A netdyno worker in Python: this script, and behind it an archive of the worker and its kit.
python="${{NETDYNO_PYTHON:-{python}}}"
[ -x "$python" ] || python="$(command -v python3)" # its modules may be missing there; the worker says which
exec "$python" -I "$0" "$@"
exit 127
"""


def add(archive, path, name):
    """Adds a source and, so that it need not be compiled at each start, its bytecode."""
    archive.write(path, name)
    with tempfile.TemporaryDirectory() as folder:
        compiled = pathlib.Path(folder) / "compiled"
        py_compile.compile(str(path), str(compiled), name, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        archive.write(compiled, name + "c")


def main(folder, to):
    to = pathlib.Path(to)
    python = str(HERE / ".venv" / "bin" / "python").replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$").replace("`", "\\`").replace("}", "\\}")
    fresh = to.with_name("." + to.name + ".new")
    fresh.write_text(LAUNCHER.format(python=python))
    with zipfile.ZipFile(fresh, "a", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted([*pathlib.Path(folder).glob("*.py"), *pathlib.Path(folder).parent.glob("*.py")]):  # and what workers share
            add(archive, source, source.name)
        for source in sorted((HERE / "netdyno_kit").glob("*.py")):
            add(archive, source, "netdyno_kit/" + source.name)
    fresh.chmod(0o755)
    os.replace(fresh, to)


if __name__ == "__main__":
    main(*sys.argv[1:])
