"""Feature maps f_q(x, e): what a context is worth before anything is learned; one idea, one file."""
