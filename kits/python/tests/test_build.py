"""What make says where python3 is missing or too old: one line with the cure, and no failure."""

import os
import pathlib
import subprocess
import tempfile
import unittest

KIT = pathlib.Path(__file__).resolve().parents[1]


class Toolchain(unittest.TestCase):
    def test_missing_and_old(self):
        with tempfile.TemporaryDirectory() as folder:
            old = pathlib.Path(folder) / "old"
            old.write_text("#!/bin/sh\nexit 1 # what a version before 3.9 answers to the question\n")
            old.chmod(0o755)
            for python in ("no-such-python3", str(old)):
                for target in ("build", "unit"):
                    with self.subTest(python=python, target=target):
                        told = subprocess.run(["make", "--no-print-directory", target, f"PYTHON={python}", f"OUT={folder}"], cwd=KIT, capture_output=True, text=True,
                                              env={k: v for k, v in os.environ.items() if not k.startswith("MAKE")})
                        self.assertEqual((0, ""), (told.returncode, told.stderr))
                        self.assertEqual(1, len(told.stdout.splitlines()), told.stdout)
                        self.assertIn("apt-get install python3", told.stdout)
            self.assertEqual(["old"], os.listdir(folder))


if __name__ == "__main__":
    unittest.main()
