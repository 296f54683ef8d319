"""The whole experiments of runs/, on a small part of the demo."""
