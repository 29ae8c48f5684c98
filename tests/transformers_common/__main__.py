"""`python -m tests.transformers_common FOLDER`: downloads the tests of the installed transformers into FOLDER and runs them.

They come in the source distribution on PyPI, not in the package, so this is `make transformers-tests` and no part of the test suite.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import transformers

FILES = ("test_tokenization_common.py", "test_tokenizers_backend_mixin.py", "test_sentencepiece_backend_mixin.py")
PACKAGE = "transformers_tests"  # they look for a folder above them whose name ends with "tests"


def fetch(folder: Path) -> Path:
    """The folder that the package of tests is in; downloaded once for each version."""
    version = transformers.__version__
    parent = folder / version
    package = parent / PACKAGE
    if all((package / name).is_file() for name in FILES):
        return parent
    package.mkdir(parents=True, exist_ok=True)
    asked = ["--no-deps", "--no-binary", "transformers", f"transformers=={version}", "--dest", str(parent)]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *asked], check=True)
    with tarfile.open(parent / f"transformers-{version}.tar.gz") as archive:
        for name in FILES:
            member = archive.extractfile(f"transformers-{version}/tests/{name}")
            if member is None:
                raise FileNotFoundError(f"the source distribution of transformers {version} has no tests/{name}")
            (package / name).write_bytes(member.read())
    (package / "__init__.py").touch()
    (package / "fixtures").mkdir(exist_ok=True)
    (package / "fixtures" / "sample_text.txt").write_text("Read by the set-up, used by no test that runs here.\n")
    return parent


def main() -> int:
    """Runs them; further arguments go to pytest."""
    folder, *options = sys.argv[1:]
    os.environ |= {"HF_HUB_OFFLINE": "1", "RUN_SLOW": "1"}
    sys.path.insert(0, str(fetch(Path(folder)).resolve()))
    return int(pytest.main(["-o", "addopts=-q", "-rs", str(Path(__file__).with_name("cases.py")), *options]))


if __name__ == "__main__":
    sys.exit(main())
