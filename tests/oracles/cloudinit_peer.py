"""The real cloud-init, asked over a pipe. Runs in a process of its own, and imports nothing of ours.

Reads pickled questions from stdin and writes pickled answers to stdout: `(sort, question)`, and
`("ok", answer)` or `("error", name of the exception's class)`. Scripts, boot hooks and part
handlers of user-data are never run, and nothing is fetched.
"""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any


def main(*roots: str) -> None:
    """roots: of cloud-init, then of what it imports: the libraries are ours, where the first is not also the last"""
    sys.path.insert(0, roots[0])
    sys.path.append(roots[-1])
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    from cloudinit import version

    _tame()
    pickle.dump(version.version_string(), answers)
    answers.flush()
    while True:
        try:
            sort, question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = ("ok", _SORTS[sort](**question))
            pickle.dumps(answer)
        except Exception as error:
            answer = ("error", type(error).__name__)
        pickle.dump(answer, answers)
        answers.flush()


def _tame() -> None:
    """Nothing that user-data asks for is done: no script runs, no address is asked."""
    from cloudinit import handlers, stages, user_data
    from cloudinit.handlers import boot_hook, shell_script
    from cloudinit.url_helper import UrlError

    def nowhere(*_: Any, **__: Any) -> None:
        raise UrlError(OSError("no network"))

    stop = user_data._handle_error

    def only_packed(message: str, source: Any = None) -> None:
        if "decompress" in message:
            stop(message, source)

    user_data.read_file_or_url, user_data._handle_error = nowhere, only_packed
    handlers.PART_CONTENT_TYPES = []
    for kind in (boot_hook.BootHookPartHandler, shell_script.ShellScriptPartHandler):
        kind.handle_part = lambda *_: None
    stages.ShellScriptByFreqPartHandler.handle_part = lambda *_: None
    if hasattr(stages, "atomic_helper"):  # JSON cannot hold every config, and is written when all is merged
        stages.atomic_helper.write_json = lambda *_, **__: None


def _values(how: Any, base: Any, update: Any) -> Any:
    from cloudinit import mergers

    if isinstance(how, str):
        parsed = mergers.string_extract_mergers(how)
    else:
        parsed = mergers.dict_extract_mergers({"merge_how": how})
    return mergers.construct(parsed).merge(base, update)


def _many(rows: Any, reverse: bool) -> Any:
    from cloudinit import util

    return util.mergemanydict(copy.deepcopy(rows), reverse=reverse)


def _cmdline(cmdline: str) -> Any:
    from cloudinit import util

    return util.read_cc_from_cmdline(cmdline)


def _userdata(blobs: Any, launch_index: Any, data: Any) -> Any:
    """The merged config, what became of each config part, and the merged file."""
    from cloudinit import handlers, helpers, util
    from cloudinit.filters import launch_index as filters
    from cloudinit.handlers import boot_hook, cloud_config, jinja_template, shell_script
    from cloudinit.user_data import UserDataProcessor

    written: list[str] = []
    kept: list[Any] = []
    rows: list[tuple[str, str, str]] = []

    class Recorder(cloud_config.CloudConfigPartHandler):
        def _write_cloud_config(self, *more: Any) -> None:
            kept.append(copy.deepcopy(self.cloud_buf))
            super()._write_cloud_config(*more)

        def handle_part(self, data: Any, kind: str, filename: str, *rest: Any) -> None:
            good, noted = len(self.file_names), len(getattr(self, "error_file_names", ()))
            super().handle_part(data, kind, filename, *rest)
            if kind not in handlers.CONTENT_SIGNALS:
                is_noted = len(getattr(self, "error_file_names", ())) > noted
                status = "merged" if len(self.file_names) > good else "rejected" if is_noted else "failed"
                rows.append((filename, kind, status))

    with tempfile.TemporaryDirectory() as folder:
        paths = helpers.Paths({"cloud_dir": folder, "run_dir": folder})
        if data:
            Path(paths.get_runpath("instance_data_sensitive")).write_text(json.dumps(data))
        message = UserDataProcessor(paths).process(list(blobs))
        message = filters.Filter(launch_index).apply(message)
        recorder = Recorder(paths)
        recorder.cloud_fn = f"{folder}/cloud-config.txt"
        scripts = [shell_script.ShellScriptPartHandler.__new__(shell_script.ShellScriptPartHandler)]
        scripts.append(boot_hook.BootHookPartHandler.__new__(boot_hook.BootHookPartHandler))
        for script in scripts:
            script.handler_version = 2
        jinja = jinja_template.JinjaTemplatePartHandler(paths, sub_handlers=[recorder, *scripts])
        real, util.write_file = util.write_file, lambda name, text, *rest, **more: written.append(text)
        try:
            known = dict.fromkeys(recorder.list_types(), recorder) | dict.fromkeys(jinja.list_types(), jinja)
            asked = {
                "handlers": known,
                "handlerdir": folder,
                "data": None,
                "frequency": None,
                "handlercount": 0,
                "excluded": [],
            }
            handlers.call_begin(recorder, None, None)
            handlers.walk(message, handlers.walker_callback, asked)
            handlers.call_end(recorder, None, None)
        finally:
            util.write_file = real
    return kept[-1], rows, written[-1] if written else ""


def _confd(main: str | None, files: Any, data: Any) -> Any:
    from cloudinit import util

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, main, files)
        kept = _instance_data(folder, data)
        return util.read_conf_with_confd(str(folder / "cloud.cfg"), instance_data_file=str(kept))


def _write(folder: Path, main: str | None, files: Any) -> None:
    if main is not None:
        (folder / "cloud.cfg").write_bytes(main.encode("utf-8", "surrogatepass"))
    if files is not None:
        (folder / "cloud.cfg.d").mkdir()
        for name, text in files.items():
            (folder / "cloud.cfg.d" / name).write_bytes(text.encode("utf-8", "surrogatepass"))


def _instance_data(folder: Path, data: Any) -> Path:
    file = folder / "instance-data.json"
    if data:
        file.write_text(json.dumps(data))
    return file


def _machine(data: Any, cmdline: str, **given: Any) -> Any:
    """The whole configuration of a machine, by the real stages."""
    from cloudinit import helpers, sources, stages

    folder = Path(tempfile.mkdtemp(prefix="cloudinit-machine-"))
    real_paths, real_cfg = helpers.Paths.__init__, stages.CLOUD_CONFIG
    os.environ["DEBUG_PROC_CMDLINE"] = cmdline

    def paths(self: Any, path_cfgs: Any, ds: Any = None) -> None:
        where = {"cloud_dir": f"{folder}/cloud", "run_dir": f"{folder}/run"}
        real_paths(self, {**(path_cfgs or {}), **where}, ds)

    try:
        for name in ("cloud/instances/i", "run", "cloud/handlers"):
            (folder / name).mkdir(parents=True)
        (folder / "cloud/instance").symlink_to(folder / "cloud/instances/i")
        _write(folder, given.get("main"), given.get("files"))
        helpers.Paths.__init__ = paths
        stages.CLOUD_CONFIG = str(folder / "cloud.cfg")
        if hasattr(stages, "RUN_CLOUD_CONFIG"):
            stages.RUN_CLOUD_CONFIG = str(folder / "run/cloud.cfg")
        if data:
            (folder / "run/instance-data-sensitive.json").write_text(json.dumps(data))
        if "runtime" in given:
            (folder / "run/cloud.cfg").write_bytes(given["runtime"].encode("utf-8", "surrogatepass"))
        if "env" in given:
            (folder / "env.cfg").write_bytes(given["env"].encode("utf-8", "surrogatepass"))
            os.environ["CLOUD_CFG"] = str(folder / "env.cfg")
        init = stages.Init()

        class Source(sources.DataSource):
            dsname = "Asked"

            def _get_data(self) -> bool:
                return True

            def get_config_obj(self) -> Any:
                return copy.deepcopy(given.get("datasource", {}))

        init.read_cfg()
        source = Source({}, None, helpers.Paths({}))
        source.metadata = {"instance-id": "i"}
        source.userdata_raw = given.get("user", b"")
        source.vendordata_raw, source.vendordata2_raw = given.get("vendor"), given.get("vendor2")
        init.datasource = source
        init._reset()
        for unpacked in (source.get_userdata, source.get_vendordata, source.get_vendordata2):
            unpacked()  # they are stored before it is asked whether they are wanted
        init._distro = object()
        init.cloudify = lambda: None
        init.consume_data("always")
        return init.cfg
    finally:
        helpers.Paths.__init__, stages.CLOUD_CONFIG = real_paths, real_cfg
        os.environ.pop("CLOUD_CFG", None)
        shutil.rmtree(folder, ignore_errors=True)


def _served(platform: str, served: Any) -> Any:
    """The raw user-data that the data source of a platform takes out of what the platform serves."""
    found = _PLATFORMS[platform](served)
    return found.encode("utf-8") if isinstance(found, str) else found


def _gce(attributes: dict[str, str]) -> Any:
    from cloudinit.sources import DataSourceGCE as source

    class Fetcher:
        def __init__(self, *_: Any) -> None:
            pass

        def get_value(self, path: str, *_: Any) -> str:
            return json.dumps(attributes) if path.startswith("instance/attributes") else "{}"

    source.GoogleMetadataFetcher = Fetcher
    source.util.is_resolvable_url = lambda _: True
    retries = type("Retries", (), {"num_retries": 0, "sec_between_retries": 0})
    return source.read_md(address="x", url_params=retries, platform_check=False)["user-data"]


def _lxd(config: dict[str, str]) -> Any:
    from cloudinit.sources import DataSourceLXD as source

    class Answer:
        status_code, ok = 200, True

        def __init__(self, text: str) -> None:
            self.text, self.content = text, text.encode("utf-8")

        def json(self) -> Any:
            return json.loads(self.content)

    class Session:
        def get(self, url: str, **_: Any) -> Answer:
            key = url.rpartition("/")[2]
            return Answer(json.dumps([f"/1.0/config/{one}" for one in config]) if key == "config" else config[key])

    return source._MetaDataReader()._process_config(Session()).get("user-data")


def _azure(custom_data: str) -> Any:
    from cloudinit.sources import DataSourceAzure as source

    azure, ovf = "http://schemas.microsoft.com/windowsazure", "http://schemas.dmtf.org/ovf/environment/1"
    return source.read_azure_ovf(
        f'<ns0:Environment xmlns="{ovf}" xmlns:ns0="{ovf}" xmlns:ns1="{azure}"><ns1:ProvisioningSection>'
        "<ns1:Version>1.0</ns1:Version><ns1:LinuxProvisioningConfigurationSet>"
        f"<ns1:HostName>h</ns1:HostName><ns1:UserName>u</ns1:UserName><ns1:CustomData>{custom_data}</ns1:CustomData>"
        "</ns1:LinuxProvisioningConfigurationSet></ns1:ProvisioningSection><ns1:PlatformSettingsSection>"
        "<ns1:Version>1.0</ns1:Version><ns1:PlatformSettings/></ns1:PlatformSettingsSection></ns0:Environment>"
    )[1]


def _vmware(info: dict[str, str]) -> Any:
    sys.modules.setdefault("netifaces", type(sys)("netifaces"))  # a library of older versions, for networks alone
    from cloudinit.sources import DataSourceVMware as source

    def tool(_: Any, asked: str) -> tuple[str, str]:
        return info.get(asked.removeprefix("info-get "), ""), ""

    if "rpctool_fn" not in source.guestinfo.__code__.co_varnames:  # older versions call the tool themselves
        source.subp = lambda argv, **_: tool(*argv)
        return source.guestinfo("userdata", "tool")
    return source.guestinfo("userdata", "tool", tool)


def _folder(files: dict[str, bytes], read: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return read(folder)


def _nocloud(files: dict[str, bytes]) -> Any:
    from cloudinit import util

    named = {"required": ["user-data", "meta-data"], "optional": ["vendor-data", "network-config"]}
    return _folder(files, lambda folder: util.pathprefix2dict(folder, **named)["user-data"])


def _config_drive(files: dict[str, bytes]) -> Any:
    from cloudinit.sources import DataSourceConfigDrive as source

    return _folder(files, lambda folder: source.read_config_drive(folder)["userdata"])


def _config_drive_vendor(files: dict[str, bytes], name: str = "vendordata") -> Any:
    from cloudinit import sources
    from cloudinit.sources import DataSourceConfigDrive as source

    return _folder(files, lambda folder: sources.convert_vendordata(source.read_config_drive(folder)[name]))


def _config_drive_vendor2(files: dict[str, bytes]) -> Any:
    return _config_drive_vendor(files, "vendordata2")


def _hetzner(text: str) -> Any:
    from cloudinit.sources import DataSourceHetzner as source

    home = source.util if hasattr(source.util, "maybe_b64decode") else source.hc_helper
    return home.maybe_b64decode(text.encode("utf-8"))


_PLATFORMS = {
    "gce": _gce,
    "lxd": _lxd,
    "azure": _azure,
    "vmware": _vmware,
    "nocloud": _nocloud,
    "config-drive": _config_drive,
    "config-drive vendor": _config_drive_vendor,
    "config-drive vendor2": _config_drive_vendor2,
    "hetzner": _hetzner,
}

_SORTS = {
    "values": _values,
    "many": _many,
    "userdata": _userdata,
    "cmdline": _cmdline,
    "confd": _confd,
    "machine": _machine,
    "served": _served,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
