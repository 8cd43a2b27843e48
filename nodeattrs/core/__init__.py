"""The merge core: trees, claims, policies, folds, traces.

It knows no Chef, no file and no clock, and imports nothing but errors.
"""
