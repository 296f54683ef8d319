"""The fused path: a query straight from decoded lists to its best entities, without the Contexts table.

    arena.py     decoded lists in one array: literals by document, mentions by type, of all segments together
    lists.py     how segments become such lists
    program.py   a scoring as numbers that the kernels read
    lanes.py     four integers at a time, for short lists
    kernels.py   matching, distances, scores, the best mention per document, values per entity, the best entities
    around.py    scores that read all occurrences around a mention, before windows are ranked
    scratch.py   room for the kernels, per thread
    shown.py     columns of the rows that are shown
    second.py    the second stage of a cascade as steps: secondkernels.py chooses contexts, secondsteps.py scores them
    focus.py     a table of these contexts, for second stages with columns that have no compiled form
    ranker.py    one query: from a parsed query and a system to ranked entities with the rows to show

It gives the bits of the table: scores are added in the same order, document by document. Systems without a fused form
(`System.prepare_fused`) are ranked through the table. May import index, contexts,
features, aggregators, rank and systems.
"""
