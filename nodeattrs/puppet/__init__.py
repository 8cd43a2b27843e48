"""Parts of Puppet's language that catalogs, bindings and lookups share: references, chains, regular expressions, facts.

It parses texts and files, and knows no catalog, binding or hierarchy.
"""
