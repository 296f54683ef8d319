"""The contract of entity maps (`fader.entityfeatures.base`), on small worlds that are drawn by a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fader.contexts.table import Contexts
from fader.entityfeatures.base import EntityMap
from fader.testing.expect import expect, expect_close
from fader.testing.parts import check_part, reparse
from fader.testing.worlds import Document, World, draw_world

SEEDS = range(20)


def check_entity_map(entity_map: EntityMap) -> None:
    """Run the whole contract on an entity map; AssertionError says what does not hold.

    It parses back; every entity has one finite number per column; what an entity has does not depend on the other
    candidates; no contexts are no error; a fitted scale divides the columns, and is in the text.
    """
    check_part(entity_map)
    columns = entity_map.columns
    expect(len(set(columns)) == len(columns) > 0, f"{entity_map.name}: columns must have names that differ")
    check_empty(entity_map)
    tables = [draw_world(seed).contexts() for seed in SEEDS]
    for contexts in tables:
        check_columns(entity_map, contexts)
    check_scale(entity_map, tables)


def check_empty(entity_map: EntityMap) -> None:
    """A table without contexts has no entities, even where nothing else of it can be found."""
    contexts = World((Document((9,), ()),), 1).contexts()
    contexts.columns = None
    found = entity_map.values(contexts)
    expect(found.shape == (0, entity_map.size), f"values of no contexts have the shape {found.shape}")


def check_columns(entity_map: EntityMap, contexts: Contexts) -> None:
    """(entities, columns) of finite numbers, which each entity has alone in the table, too."""
    found, entities = entity_map.values(contexts), contexts.groups.entity
    expected = (entities.size, entity_map.size)
    expect(found.shape == expected, f"values have the shape {found.shape}, not {expected}: entities by columns")
    expect(np.isfinite(found), "a value is not finite")
    for i, entity in enumerate(entities.tolist()):
        alone = entity_map.values(contexts.take(np.flatnonzero(contexts.entity == entity)))
        expect_close(alone, found[i : i + 1], f"the values of entity {entity} depend on the other candidates")


def check_scale(entity_map: EntityMap, tables: list[Contexts]) -> None:
    """The scale that is fitted to tables divides the columns; the text has it."""
    fitted = entity_map.fit_scale(tables)
    expect(reparse(fitted, str(fitted)) == fitted, f"{fitted} does not parse back to an equal part")
    for contexts in tables:
        plain = replace(entity_map, scale=()).values(contexts)
        expect_close(fitted.values(contexts), plain / np.array(fitted.scale), "values are not divided by the scale")
