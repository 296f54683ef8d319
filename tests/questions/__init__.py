"""Plain questions: words, readings, training, asking."""
