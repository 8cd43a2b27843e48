"""What the originals really answered, and the runner that puts the same questions to us.

    python -m tests.vectors KIND FILE          for example chef-attributes tests/vectors/chef-attributes.jsonl

Each kind of vector is one module here that offers its judges in `KINDS`: a name and a
`Judge`. The runner knows files, lines and the closing count; what a case means, and how
its operations are spelled in our public names, only the module of its kind knows.
"""
