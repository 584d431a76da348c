"""Which Chromium the browser tests drive: one named by KVSCOPE_CHROMIUM, an installed one, or Playwright's own.

`python -m tests.browser.chromium` makes sure that there is one, or says in one sentence what to install.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """The path of a Chromium, or None."""
    named = os.environ.get("KVSCOPE_CHROMIUM")
    if named:
        return named if Path(named).is_file() else None
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    return installed or _of_playwright()


def _of_playwright() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).is_file() else None


def main() -> int:
    if find() is None and not os.environ.get("KVSCOPE_CHROMIUM"):
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    path = find()
    if path is None:
        print(
            "No Chromium was found; install one (Debian: apt install chromium) or name its path in KVSCOPE_CHROMIUM.",
            file=sys.stderr,
        )
        return 1
    print(f"Browser tests use {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
