"""The layers in front of all routes: host, keys, bodies, headers, load shedding, tracing. Knows no route."""
