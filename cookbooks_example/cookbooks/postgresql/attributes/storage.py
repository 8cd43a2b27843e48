"""The disk that the database lives on."""

from nodeattrs.recipe import default

default["postgresql"]["storage"] = {
    "mount": "/var/lib/postgresql",
    "fs_type": "ext4",
}
