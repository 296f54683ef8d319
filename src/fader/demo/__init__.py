"""The demo corpus: synthetic prose that a script writes from tables of true facts.

Nothing here was collected from the Web. ``facts/`` holds entities and facts as short
verb phrases, ``generate.py`` joins them into about 2,000 small documents, and the
judgments follow from the same tables. The scenery around the facts (a jumble sale, a
radio programme) is invented and claims nothing about any entity.
"""
