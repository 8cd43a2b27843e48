"""Comparisons with the real programs. Never part of the tests: they fetch what they compare with."""
