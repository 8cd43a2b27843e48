"""Two sides of one question: what a change changes, where, and because of which line.

`sides` are the files before and after, `dialects` who is asked and how, `reading` what an answer looked at,
`impact` compares, `because` names the lines. No dialect is known outside of the table in `dialects`.
"""
