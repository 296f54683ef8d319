"""Who holds shards and where: actors, controller, placement, Ray itself."""
