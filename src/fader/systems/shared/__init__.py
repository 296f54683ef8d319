"""What several prior systems share: language models, kernels, windows, document rankings, forests.

Holds no system.
"""
