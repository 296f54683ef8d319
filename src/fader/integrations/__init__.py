"""Fader in other frameworks, one module each, imported by name: `fader.integrations.langchain`, `.llama_index`.

Each needs its framework, which is no dependency of Fader.
"""
