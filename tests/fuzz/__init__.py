"""Many odd inputs for every reader and evaluator: nothing but the project's errors, 5 s of CPU, 1 GiB.

A target (target.py, targets/) grows a text from a grammar or a shape, reads it, and uses what was read. An input is
made of the target's name and its seed alone, so that a seed repeats it. What a run counts is what the parser accepts:
inputs that end at the first sign prove little.
"""
