"""Warnings about the merged config: unknown keys, commands that cannot run, users, passwords, permissions, markup.

A warning here has a path and no part: `Merged.place_of` finds the line that set the value. The warnings follow what the
code of cloud-init does with a value; `schema` checks values by cloud-init's JSON schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from nodeattrs.codes import Kind
from nodeattrs.core.tree import Path, dig, near, spell
from nodeattrs.dialects.cloudinit.codes import (
    COMMAND_NO_TEXT,
    COMMAND_WORDS,
    COMMANDS_NO_LIST,
    CRLF_SCRIPT,
    MISSPELT_KEY,
    NOT_IN_USER_DATA,
    OVER_SIZE,
    OWNER_TOO_EARLY,
    PASSWD_NO_HASH,
    PERMISSIONS_NUMBER,
    UNEXPANDED,
    USERS_WITHOUT_DEFAULT,
)
from nodeattrs.dialects.cloudinit.lints.texts import INSTANCE_DATA, MARKUP, markup_in, markup_kinds
from nodeattrs.dialects.cloudinit.lints.warned import Severity, Warned
from nodeattrs.dialects.cloudinit.parts import kind_of
from nodeattrs.kinds import LAYER_IS_UNKNOWN


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOP_KEYS = _words("""
    allow_public_ssh_keys ansible apk_repos apt apt_mirror apt_pipelining apt_preserve_sources_list apt_proxy
    apt_reboot_if_required apt_sources apt_update apt_upgrade authkey_hash autoinstall bootcmd byobu_by_default
    ca-certs ca_certs chef chpasswd cloud_config_modules cloud_final_modules cloud_init_modules conf_d
    create_hostname_file datasource datasource_list def_log_file device_aliases disable_ec2_metadata
    disable_fallback_netcfg disable_root disable_root_opts disk_setup drivers fan final_message fqdn fs_setup
    groups growpart grub-dpkg grub_dpkg hostname keyboard landscape launch-index locale locale_configfile
    log_cfgs lxd manage_etc_hosts manage_resolv_conf manual_cache_clean mcollective merge_how merge_type migrate
    mount_default_fields mounts network no_ssh_fingerprints ntp output package_reboot_if_required package_update
    package_upgrade packages password phone_home power_state prefer_fqdn_over_hostname preserve_hostname puppet
    random_seed reporting resize_rootfs resolv_conf rh_subscription rpi rsyslog runcmd salt_minion snap snappy
    spacewalk ssh ssh_authorized_keys ssh_deletekeys ssh_fp_console_blacklist ssh_genkeytypes ssh_import_id
    ssh_key_console_blacklist ssh_keys ssh_publish_hostkeys ssh_pwauth ssh_quiet_keygen ssh_svcname swap
    syslog_fix_perms system_info timezone ubuntu-advantage ubuntu_advantage ubuntu_pro unverified_modules updates
    user users
    vendor_data vendor_data2 version warnings wireguard write_files yum_repo_dir yum_repos zypper
""")
_USER = _words("""
    name create_groups default doas expiredate gecos groups hashed_passwd homedir inactive lock_passwd
    no_create_home no_log_init no_user_group passwd plain_text_passwd primary_group selinux_user shell snapuser
    ssh_authorized_keys ssh_import_id ssh_redirect_user sudo system uid
""")
_FOREIGN = _words("coreos k3os rancher scheme_version set_hostname set_timezone stages")
"""Keys that only another program has: CoreOS, k3OS, RancherOS, Harvester, cloudbase-init or Kairos."""

_FILE = _words("append content defer encoding owner path permissions source")
_NEAR = 0.8
"""How similar an unknown key must be to a known one to count as misspelt; `system` to `system_info` is not enough."""

_FILLED_IN: tuple[Path, ...] = (
    ("hostname",), ("fqdn",), ("timezone",), ("locale",), ("keyboard",), ("password",), ("chpasswd",), ("users",),
    ("groups",), ("ssh_authorized_keys",), ("ssh_import_id",), ("packages",), ("apt", "sources"), ("mounts",),
    ("swap",), ("disk_setup",), ("fs_setup",), ("growpart",), ("power_state",),
    ("ntp", "enabled"), ("ntp", "pools"), ("ntp", "servers"),
)  # fmt: skip
"""Paths of values that no shell reads: `${...}` is markup there."""
_NAMES: tuple[Path, ...] = (
    ("hostname",), ("fqdn",), ("timezone",), ("locale",), ("packages",), ("power_state", "mode"),
)  # fmt: skip
"""Paths of names that no shell reads. They contain no hash of a password, so `$NAME` is markup there."""
_VARIABLE = markup_kinds(
    r"(?:(?<![\w$])\$[A-Za-z_]\w*|@@\w+@@|__[A-Z][A-Z0-9_]*__)(?P<end>)", r"(?<![\w$])\$\([^)\n]*+(?P<end>\))?"
)
_BY_APT = {"${MIRROR}", "${RELEASE}", "${PRIMARY}", "${SECURITY}", "${KEY_FILE}"}
"""Markup that cloud-init itself fills in below `apt`."""

_NEED_WORDS = _words("""
    add-apt-repository apt apt-get cat chmod chown cp curl dnf docker echo git groupadd install kubectl ln mkdir
    modprobe mv pip pip3 rm sed service snap sysctl systemctl tar tee touch ufw useradd usermod wget yum zypper
""")
"""Commands that are always run with further words."""

_INSTALLED: Path = ("autoinstall", "user-data")
"""The path of the config of the installed machine, in the config of an installer."""

_READ_EARLIER = {
    "network": "give it as the network-config of the data source",
    "datasource": "write it into a file of /etc/cloud/cloud.cfg.d",
    "datasource_list": "write it into a file of /etc/cloud/cloud.cfg.d",
}
"""A key that cloud-init reads before it has user-data or vendor-data -> what to do instead."""

_DEFAULT_USERS = ("ssh_authorized_keys", "ssh_import_id", "password")
"""Keys whose values go to the default user."""


def about_config(config: Any) -> Iterator[Warned]:
    """Yield the warnings about a merged config. An installer's config may have another config in
    `autoinstall.user-data`; it is looked at, too.

    Nothing for anything but a map. A config for another program has one note, and no other warning.
    """
    if not isinstance(config, dict):
        return
    if key := foreign_key(config):
        message = "is a key of another program, and cloud-init does not know it: no other key was looked at"
        yield _warned(LAYER_IS_UNKNOWN, (key,), message, "check the file with that program", "note")
        return
    yield from _about_keys(config, TOP_KEYS, ())
    for key in ("runcmd", "bootcmd"):
        yield from _about_commands(config.get(key), key)
    yield from _about_users(config)
    for path, entry in _entries(config.get("users"), "users"):
        yield from _about_keys((key for key in entry if str(key).replace("-", "_") not in _USER), _USER, path)
    yield from _about_hashes(config)
    for path, entry in _entries(config.get("write_files"), "write_files"):
        yield from _about_keys(entry, _FILE, path)
        yield from _about_file(entry, path)
    yield from _about_owners(config)
    yield from _about_markup(config)
    inner = dig(config, _INSTALLED)
    for one in about_config(inner):
        yield replace(one, path=(*_INSTALLED, *(one.path or ())), message=f"in {spell(_INSTALLED)}, {one.message}")


def about_user_data(config: Any) -> Iterator[tuple[Kind, Path, str, str]]:
    """Yield (name of the warning, path, message, hint) for each key of one part's config that user-data cannot set.

    cloud-init reads these keys before it has user-data. Nothing for anything but a map.
    """
    for above in ((), _INSTALLED):
        inner = dig(config, above)
        if isinstance(inner, dict) and not foreign_key(inner):
            for key in (key for key in _READ_EARLIER if key in inner):
                message = f"{spell((*above, key))} is read before there is user-data: nothing comes of it here"
                yield NOT_IN_USER_DATA, (*above, key), message, _READ_EARLIER[key]


def foreign_key(config: Any) -> str:
    """The first key that only another program has, such as "coreos"; "" for none, and for anything but a map."""
    if not isinstance(config, dict):  # a patch may leave something else
        return ""
    keys = [key for key in config if key in _FOREIGN]
    if "install" in config and "os" in config:
        keys.append("install")
    return keys[0] if keys else ""


def _warned(name: Kind, path: Path, message: str, hint: str, severity: Severity = "warning") -> Warned:
    return Warned(name, f"{spell(path)} {message}", 0, "", path, hint, severity)


def _entries(listed: Any, key: str) -> Iterator[tuple[Path, dict[Any, Any]]]:
    """The maps in a list, with their paths; nothing where *listed* is not a list."""
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict):
            yield (key, index), entry


def _about_keys(entries: Iterable[Any], known: frozenset[str], path: Path) -> Iterator[Warned]:
    for key in (key for key in entries if key not in known):
        close = near(key, known, _NEAR) if isinstance(key, str) else []
        if path and key in TOP_KEYS:
            yield _warned(MISSPELT_KEY, (*path, key), "is a key of the config itself", "write it at the top")
        elif close:
            hint = f"did you mean {' or '.join(close)}?"
            yield _warned(MISSPELT_KEY, (*path, key), "is no key of cloud-init", hint)


def _about_commands(commands: Any, key: str) -> Iterator[Warned]:
    if commands is None or isinstance(commands, tuple):
        return
    if not isinstance(commands, list):
        message = f"is {kind_of(commands)}, and has to be a list: nothing of it is run"
        yield _warned(COMMANDS_NO_LIST, (key,), message, "write each command as an item: - COMMAND", "error")
        return
    if len(commands) > 1:
        first, second = commands[:2]
        if isinstance(first, str) and first in _NEED_WORDS and isinstance(second, str) and " " not in second:
            message = f"runs {first!r} and {second!r} as two commands: each item is a command of its own"
            hint = "write the words of one command as a list in the list: - [a, b]"
            yield _warned(COMMAND_WORDS, (key,), message, hint)
    for index, command in enumerate(commands):
        if type(command) is str or type(command) is list or command is None or isinstance(command, tuple):
            continue
        message = f"is {kind_of(command)}, and has to be a text or a list: no command of {key} is run"
        yield _warned(COMMAND_NO_TEXT, (key, index), message, _quoted(command), "error")


def _quoted(command: Any) -> str:
    if isinstance(command, dict):
        return "a colon and a blank make a mapping of it: quote the whole line, or write it as a block: - |"
    return "quote it"


def _about_users(config: dict[Any, Any]) -> Iterator[Warned]:
    users = config.get("users")
    if not isinstance(users, list) or not users:
        return
    names = (one.get("name", "default") if isinstance(one, dict) else one for one in users)
    if any("default" in str(name).replace(" ", "").split(",") for name in names):
        return
    theirs = [key for key in _DEFAULT_USERS if config.get(key)]
    message = "has no default: the image's own user is not created"
    if theirs:
        message += f", and {' and '.join(theirs)} {'goes' if len(theirs) == 1 else 'go'} to root only"
    hint = "write - default as the first item, if that user is wanted"
    yield _warned(USERS_WITHOUT_DEFAULT, ("users",), message, hint, "warning" if theirs else "note")


_HASHED = re.compile(r"[!*$_@<%]|\{[{%]|x?$|[./0-9A-Za-z]{13}$")
"""The beginning of a hash, of an account without a password, or of markup that may give a hash."""


def _about_hashes(config: dict[Any, Any]) -> Iterator[Warned]:
    """Passwords in plain text where cloud-init takes a hash. The messages do not repeat the password."""
    users = list(_entries(config.get("users"), "users"))
    places = [((*path, key), entry.get(key)) for path, entry in users for key in ("passwd", "hashed_passwd")]
    for (_, at), entry in _entries(dig(config, ("chpasswd", "users")), "users"):
        if entry.get("type", "hash") == "hash":
            places.append((("chpasswd", "users", at, "password"), entry.get("password")))
    for path, written in places:
        if isinstance(written, str) and _HASHED.match(written) is None:
            hint = "write a hash, or the text as plain_text_passwd, or as type: text below chpasswd"
            yield _warned(PASSWD_NO_HASH, path, "is no hash, and is taken for one: no password fits it", hint)


def _about_file(entry: dict[Any, Any], path: Path) -> Iterator[Warned]:
    mode = entry.get("permissions")
    if type(mode) is int and mode >= 0:
        octal = f"0{mode:o}"
        meant = f"0{mode}" if mode > 0o777 and set(str(mode)) <= set("01234567") else octal
        message = f"is the number {mode}, which is the mode {octal}"
        yield _warned(PERMISSIONS_NUMBER, (*path, "permissions"), message, f"write '{meant}', as text")
    content = entry.get("content")
    if isinstance(content, str) and content.startswith("#!") and content.partition("\n")[0].endswith("\r"):
        message = "is a script whose first line ends with a carriage return: it is not started"
        yield _warned(CRLF_SCRIPT, (*path, "content"), message, "write it with line feeds alone")


def _about_owners(config: dict[Any, Any]) -> Iterator[Warned]:
    """cloud-init writes files before it makes users, unless a file is deferred; root is there before."""
    made = [entry.get("name") for _, entry in _entries(config.get("users"), "users")]
    for path, entry in _entries(config.get("write_files"), "write_files"):
        owner = str(entry.get("owner", "")).partition(":")[0]
        if owner in made and owner != "root" and not entry.get("defer"):
            message = (
                f"is {owner}, a user that is made after files are written: this file and later ones are not written"
            )
            yield _warned(OWNER_TOO_EARLY, (*path, "owner"), message, "write defer: true beside it", "error")


def _about_markup(config: dict[Any, Any]) -> Iterator[Warned]:
    """Yield at most one warning about markup: a template that was not filled in has it in several places."""
    places = [place for path in _FILLED_IN for place in _markup_in(dig(config, path), path)]
    places += [place for path in _NAMES for place in _markup_in(dig(config, path), path, _VARIABLE)]
    for path, entry in _entries(config.get("write_files"), "write_files"):
        places += [
            place for key in ("path", "owner", "permissions") for place in _markup_in(entry.get(key), (*path, key))
        ]
    places = [place for place in places if place[1] not in _BY_APT]
    hint = "check what the template is filled in to"
    if not places:
        hint = "begin the file with ## template: jinja"
        shell = ("runcmd", "bootcmd", "write_files")
        places = [place for key in shell for place in _markup_in(config.get(key), (key,), INSTANCE_DATA)]
    if places:
        path, markup = places[0]
        more = f", and {len(places) - 1} more like it" if len(places) > 1 else ""
        message = f"holds {markup}, which cloud-init does not fill in{more}"
        yield _warned(UNEXPANDED, path, message, hint)


def _markup_in(value: Any, path: Path, kinds: tuple[re.Pattern[str], ...] = MARKUP) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if found := markup_in(value, kinds):
            yield path, found
    elif isinstance(value, (dict, list)) and len(path) < 5:
        for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _markup_in(entry, (*path, step), kinds)


# --- the size of user-data, by the pages of the clouds -----------------------------------

LIMITS: dict[str, tuple[int, bool]] = {
    "aws": (16_384, False),
    "azure": (65_535, False),
    "digitalocean": (65_536, False),
    "gcp": (262_144, False),
    "hetzner": (32_768, False),
    "openstack": (65_535, True),
    "oracle": (32_000, True),
}
"""The cloud -> how many bytes it takes, and whether they are counted as base64."""

SMALLEST = "aws"


def about_size(size: int, title: str, cloud: str | None) -> Warned | None:
    """The warning about user-data that is larger than a cloud takes; None if it is not larger.

    size:  in bytes, before base64
    title: the name of the user-data, for the warning
    cloud: a key of LIMITS. None: the smallest limit counts, and the warning is a note; otherwise it is an error
    """
    name = cloud or SMALLEST
    most, of_base64 = LIMITS[name]
    sent = -(-size // 3) * 4 if of_base64 else size
    if sent <= most:
        return None
    message = f"{sent:,} bytes{' as base64' if of_base64 else ''} are more than the {most:,} that {name} takes"
    hint = "pack it with gzip, or fetch what is large; --cloud names another cloud"
    return Warned(OVER_SIZE, message, 0, title, None, hint, "error" if cloud else "note", (1, 1))
