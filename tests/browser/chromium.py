"""The browser of these tests: the chromium of this machine. Nothing is downloaded.

Without one the tests are skipped, and fail where CI is set: there `.ci/run` puts one in place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
MISSING = "no chromium on the PATH (Debian: apt-get install chromium)"
PATIENCE = 60_000  # ms: no machine is as slow as that

# No name is looked up, so that a request to another host fails at once, and is seen.
ARGUMENTS = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-dev-shm-usage", "--disable-gpu"]


def binary() -> str:
    """Where the browser is."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    if os.environ.get("CI"):
        pytest.fail(MISSING, pytrace=False)
    pytest.skip(MISSING)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that runs inside."""
    path = binary()
    arguments = [*ARGUMENTS, "--no-sandbox"] if os.geteuid() == 0 else ARGUMENTS
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()
