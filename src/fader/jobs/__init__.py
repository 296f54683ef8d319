"""Long work that can be interrupted: a work folder, files that are whole or as before, workers.

Imports `errors` alone.
"""
