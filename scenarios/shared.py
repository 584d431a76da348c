"""Where the reference material lies: cases, golden runs and trace extracts that are not part of the repository.

The folder is looked for beside the repository; the environment variable `KVSCOPE_SHARED` names another one. What needs
it (tests, `tests.cases`, `tests.goldens`) says so and skips when it is absent.
"""

import os
from pathlib import Path

SHARED = Path(os.environ.get("KVSCOPE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
