"""The documents are true: links resolve, commands run, the reference is the programs' own help."""
