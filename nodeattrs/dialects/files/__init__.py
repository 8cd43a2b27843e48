"""The dialect of plain files, which a policy merges: by settings of nodeattrs.toml, or as Helm and Compose do."""
