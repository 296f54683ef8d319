"""Parts that live outside of the package."""
