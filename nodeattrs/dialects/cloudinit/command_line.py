"""Read the two things that cloud-init takes from a kernel command line: config as text, and the address of a config.

The functions work on texts: no file is read and nothing is fetched.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from nodeattrs.core.borders import taking
from nodeattrs.dialects.cloudinit.parts import CloudPart
from nodeattrs.dialects.cloudinit.releases import NEWEST, release_of


@taking(cmdline=str)
def config_of_cmdline(cmdline: str, cloud_init: str = NEWEST) -> str:
    """The YAML text between `cc:`, at the beginning of a word, and `end_cc` or the end; "" where there is no `cc:`.

    Several texts are joined by line feeds. `%20` and the like are decoded, and `\\n` in the text becomes a line feed.
    cloud_init: the release; until 23.1 `cc:` counts inside of a word, too

    >>> config_of_cmdline("root=/dev/sda cc: runcmd: [ls] end_cc quiet cc:a:%201")
    'runcmd: [ls] \\na: 1'
    >>> config_of_cmdline("ifname=net0:52:54:00:cc:ab:cd"), config_of_cmdline("ifname=net0:cc:ab:cd", "22.4")
    ('', 'ab:cd')
    """
    begin = "cc:"
    if release_of(cloud_init).cc_is_word:
        begin, cmdline = " cc:", f" {cmdline}"
    texts = []
    rest = cmdline
    while begin in rest:
        text, _, rest = rest.partition(begin)[2].partition("end_cc")
        texts.append(unquote(text.lstrip()).replace("\\n", "\n"))
    return "\n".join(texts)


@taking(cmdline=str)
def url_of_cmdline(cmdline: str) -> str | None:
    """The value of `cloud-config-url=`, from where cloud-init fetches a config; None for a line without it.

    >>> url_of_cmdline("ro cloud-config-url=http://10.0.0.1/config")
    'http://10.0.0.1/config'
    """
    words = dict(word.partition("=")[::2] for word in cmdline.split())
    return words.get("cloud-config-url") or None


def cmdline_layers(text: str, cloud_init: str, file: str | None) -> dict[str, Any]:
    """The arguments `cmdline` and `config_url` of `merge_layers`, as a map, from the text of /proc/cmdline.

    cloud_init: the release whose rules apply
    file:       the path of the text, for origins; None for none
    """
    cmdline = text.replace("\0", " ").strip()  # /proc/1/cmdline of a container has zeros
    config = config_of_cmdline(cmdline, cloud_init)
    part = CloudPart(config, filename="kernel command line", file=file, line=None)
    return {"cmdline": part, "config_url": url_of_cmdline(cmdline)}
