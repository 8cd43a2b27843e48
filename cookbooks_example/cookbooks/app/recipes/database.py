"""How the shop reaches its database. The secrets come from the data bag "apps"."""

from nodeattrs.recipe import Sensitive, data_bag_item, node

secrets = data_bag_item("apps", "shop")

node.default["app"]["database"] = {
    "host": "db1.example.com",
    "port": 5432,
    "name": "shop",
    "user": "shop",
    "password": Sensitive(secrets["database_password"]),  # computed
}

# Plain here; nodeattrs.toml names its path as sensitive, which comes to the same.
node.default["app"]["session_secret"] = secrets["session_secret"]  # computed
