"""Files of all kinds to documents, and `fader start`."""
