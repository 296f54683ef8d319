"""From a Contexts table to ranked entities.

`system.py` is the contract of everything that ranks; `ranking.py` puts entities in order and explains, for any system.
Imports contexts, features and aggregators; knows no particular one of them.
"""
