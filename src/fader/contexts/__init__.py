"""From a query to its Contexts table, the narrow waist: storage before it, arrays after it."""
