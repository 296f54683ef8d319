"""Training weights through aggregation, from judgments of entities; cross-validation; model files.

contract        learner.py; settings.py declares the parameters of features x aggregator
data            dataset.py, joined.py (many small queries at once)
one fit         objective.py (values and gradients), loss.py, train.py; nearby.py (near given weights), cutoff.py
many fits       crossvalidate.py, leaveoneout.py (exact, without refitting), feature_trainer.py, threads.py
what is kept    model.py, modelfile.py; interpreter.py (what is learned of reading questions)
"""
