"""The plan of docs/scale.md: where nothing is slow, latency is a sum; hedging helps, and asks no more than it may."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "runs" / "scale.py"


@pytest.fixture(scope="module")
def scale() -> Any:
    spec = importlib.util.spec_from_file_location("scale", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["scale"] = module
    spec.loader.exec_module(module)
    return module


def test_without_stragglers_and_queues_latency_is_a_sum(scale: Any) -> None:
    costs = scale.Costs()
    assumed = scale.Assumed(slow_sigma=0, pause_chance=0, contexts_sigma=0, queries_per_second=1e-3, queries=50)
    plan = scale.planned(1e8, costs, assumed)
    found = scale.simulated(plan, costs, assumed, hedged=False)
    contexts, postings = 1e8 * assumed.contexts_per_page, 1e8 * assumed.postings_per_page
    work = costs.query_fixed_ms
    work += (contexts * costs.query_ns_per_context + postings * costs.query_ns_per_posting) / plan.groups / 1e6
    own = plan.groups * costs.gather_us_per_group / 1e3 + contexts * costs.gather_ns_per_context / 1e6
    expected = costs.scatter_ms + (work + own) / assumed.core_speed + costs.evidence_ms
    for p in ("p50", "p95", "p99"):
        assert math.isclose(found[p], expected, rel_tol=1e-6)


def test_what_is_planned_holds_the_index(scale: Any) -> None:
    """Disks and memory of all nodes suffice; twice the pages need more nodes; groups have the least mean latency."""
    costs, assumed = scale.Costs(), scale.Assumed()
    one, two = (scale.planned(pages, costs, assumed) for pages in (5e8, 1e9))
    assert one.nodes < two.nodes
    assert two.index_tb == 2 * one.index_tb
    for plan in (one, two):
        assert plan.disk_per_node_gb <= 0.8 * assumed.node_disk_gb
        assert plan.memory_per_node_gb <= 0.8 * assumed.node_memory_gb
    dear = scale.planned(5e8, replace(costs, gather_us_per_group=50 * costs.gather_us_per_group), assumed)
    assert dear.groups < one.groups


def test_hedging_helps_within_its_bound(scale: Any) -> None:
    costs, assumed = scale.Costs(), scale.Assumed(queries=2_000)
    plan = scale.planned(5e8, costs, assumed)
    plain, hedged = (scale.simulated(plan, costs, assumed, hedge) for hedge in (False, True))
    assert hedged["p95"] < plain["p95"]
    assert 0 < hedged["asked again"] <= assumed.asked_again
    assert plain["asked again"] == 0


def test_the_command(tmp_path: Path) -> None:
    """Everything is an option, and all that is printed can be had as JSON."""
    command = [sys.executable, str(SCRIPT), "--pages", "1e7", "--queries", "100", "--json", str(tmp_path / "plan.json")]
    done = subprocess.run([*command, "--replicas", "3"], capture_output=True, text=True, check=True)
    found = json.loads((tmp_path / "plan.json").read_text())
    assert found["assumed"]["replicas"] == 3
    for name, value in found["found"][0]["shown"]:
        assert f"| {name} | {value} |" in done.stdout
