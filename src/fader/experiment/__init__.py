"""How good a ranking is, against judgments; knows nothing of how it was made.

judged queries  judged.py; asked.py and questions.py where queries are plain questions
systems         system_specs.py (by text), experiment.py (run on judged queries), tune.py, ranker.py (`Ranker`)
comparing       compare.py fills a comparison.py; cache.py keeps results while it runs
numbers         measures.py, foreign.py, significance.py, results.py, runs.py (TREC runs), published.py
what is shown   figure_data.py, provenance.py; `reporting/` writes it, `paper/` makes the paper's tables
options         options.py
"""
