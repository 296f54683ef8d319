"""Plain questions: how one is read as answer types and literals, and how such reading is learned from judged answers.

    words.py         the words of a question: question word, head noun, negation; English data in english.json
    typenames.py     types by the words of their names
    reader.py        a question to its readings, each a type (or none) and a query, with a probability
    mixture.py       s(e|q) = ln sum_z p(z|q) [e in t_z] exp(b V(e)), V(e) = -ln rank; its gradient and its shares
    calibration.py   probabilities of answers, their error, a cut
    train.py         an interpreter from questions, values and judgments

What is learned is an interpreter (`learn.interpreter`). Knows catalogs and arrays, nothing of contexts or of how
entities are ranked: `search.ask` brings both together.
"""
