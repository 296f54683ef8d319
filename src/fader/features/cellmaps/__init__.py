"""What maps made of cells share: buckets of IDF and distance, prefix sums, staircases.

Holds no feature map of its own.
"""
