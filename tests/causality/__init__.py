"""Does `explain` tell the truth? Edit the line it names, run again, and look.

One judge (judge.py) for all systems. A system (system.py, systems/) makes small random inputs, has examples, and
answers: a value, and the explanation of each path as data. What the words of that data mean stands in words.py
alone; the files are edited as text (entries.py, editor.py), by what knows none of our readers.
"""
