"""An open index that answers: contexts, rankings, answers with evidence. Knows nothing of terminals or HTTP."""
