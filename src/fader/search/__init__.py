"""An open index that answers: contexts, rankings, answers with evidence. Knows nothing of terminals or HTTP.

where to begin  index.py (`Index`, the Python interface), collection.py (what it asks), local.py (a folder's)
what is asked   options.py, inputs.py (queries and judgments of callers), models.py (models by name)
answers         answer.py, ask.py (plain questions; firststage.py, staged.py), batch.py (files of queries)
evidence        evidence.py picks contexts; snippets.py, cutting.py, passage.py and passages.py cut their texts
one entity      entity.py, entity_rank.py, why.py, grids.py; versus.py and tau.py compare two systems
documents       document.py
to look around  info.py, health.py, suggest.py, typetree.py, system_info.py, examples.py, stored_examples.py
other forms     display.py (HTML and frames), csv.py
changes         change.py, again.py (annotate again), start.py (from files to an index)
"""
