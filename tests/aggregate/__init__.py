"""What single aggregators compute: by hand, against an oracle, and at their edges."""
