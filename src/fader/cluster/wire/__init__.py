"""Calls to shards by sockets: frames, connections, servers, clients."""
