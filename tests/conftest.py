"""How many examples hypothesis draws: fewer where CI is set, so that a run on two cores stays under 20 minutes.

A test that names a number of its own keeps it. `--hypothesis-profile thorough` draws more. And Ctrl-C works: behind the
& of a script it is ignored, and so it would be by all processes that are started here to be interrupted.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from hypothesis import settings

from fader.kernel import cache_folder

# Programs started with another cache folder still share the compiled kernels.
os.environ.setdefault("FADER_KERNEL_CACHE", str(cache_folder()))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", max_examples=12, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def rankers(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Rankers of every kind, the learners among them fitted once for all tests of a process."""
    from index.answers import make_rankers

    return make_rankers(tmp_path_factory.mktemp("trained") / "index")
