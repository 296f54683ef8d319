"""Tests of what lies on disk: containers, lists, strings, commits, whole builds."""
