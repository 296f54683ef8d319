"""The contracts of parts and collections, for authors of plug-ins.

    from fader.testing import check_feature_map

    def test_my_map():
        check_feature_map(MyMap())

Each raises AssertionError with what does not hold. They need nothing but numpy and Fader itself; pytest is not needed.
Fader's own parts and collections are tested by the same functions. May import everything but the command line, the
service and the cluster.
"""

from __future__ import annotations

from fader.testing.aggregators import check_aggregator
from fader.testing.collections import check_collection
from fader.testing.entityfeatures import check_entity_map
from fader.testing.features import check_feature_map
from fader.testing.fused import check_fused
from fader.testing.importers import check_importer, check_variants
from fader.testing.systems import check_system

__all__ = [
    "check_aggregator",
    "check_collection",
    "check_entity_map",
    "check_feature_map",
    "check_fused",
    "check_importer",
    "check_system",
    "check_variants",
]
