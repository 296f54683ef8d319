"""The routes, by what they are about. Handlers are thin: they parse, wait for their turn, and encode."""
