"""Plain questions: how one is read as answer types and literals, and how such reading is learned from judged answers.

    words.py         the words of a question: question word, head noun, negation; English data in english.json
    typenames.py     types by the words of their names
    interpreter.py   what is learned: weights of the features of a type, associations of words with type names
    reader.py        a question to its readings, each a type (or none) and a query, with a probability
    mixture.py       s(e|q) = ln sum_z p(z|q) [e in t_z] exp(b V(e)), V(e) = -ln rank; its gradient and its shares
    train.py         an interpreter from questions, values and judgments

Knows catalogs and arrays, nothing of contexts or of how entities are ranked: `search.ask` brings both together.
"""
