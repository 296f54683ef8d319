"""Every command through the front door: output, files, exit codes, error lines."""
