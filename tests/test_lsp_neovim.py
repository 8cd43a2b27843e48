"""`nodeattrs lsp` in Neovim, with the configuration that docs/editor.md shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nodeattrs.cli import main
from tests.test_lsp import ROOT, site

EDITOR = shutil.which("nvim") or ""

ASK = """
local said, messages = {}, {}
vim.lsp.handlers["window/showMessage"] = function(_, shown) table.insert(messages, shown.message) end
vim.ui.select = function(items, options, choose)
  said.actions = vim.tbl_map(options.format_item, items)
  choose(items[1], 1)
end
local function wait(what) vim.wait(60000, what, 50) end
local function press(keys) vim.api.nvim_feedkeys(keys, "mx", false) end
local function file() return vim.fn.expand("%:t") end
local function lenses()
  local found = {}
  for name, space in pairs(vim.api.nvim_get_namespaces()) do
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
      for _, text in ipairs(mark[4].virt_text or {}) do
        if name:find("codelens") then table.insert(found, { mark[2] + 1, text[1] }) end
      end
    end
  end
  return found
end

vim.cmd("edit roles/web.json")
wait(function() return #lenses() > 0 end)
said.lenses = lenses()

vim.api.nvim_win_set_cursor(0, { 4, 6 })
press("K")
wait(function() return #vim.api.nvim_list_wins() > 1 end)
said.hover = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(vim.api.nvim_list_wins()[2]), 0, -1, true)

press("gra")
wait(function() return file() == "prod.json" or #messages > 0 end)
said.action = { file(), vim.fn.line("."), messages }

vim.cmd("edit roles/web.json")
vim.api.nvim_win_set_cursor(0, { 4, 6 })
press("gd")
wait(function() return #vim.fn.getqflist() > 0 end)
said.winners = vim.tbl_map(function(one) return vim.fn.bufname(one.bufnr) .. ":" .. one.lnum end, vim.fn.getqflist())

vim.cmd("cclose | edit roles/old.json")
wait(function() return #vim.diagnostic.get(0) > 0 end)
said.problems = vim.tbl_map(function(one) return { one.lnum + 1, one.message } end, vim.diagnostic.get(0))
vim.fn.writefile({ vim.fn.json_encode(said) }, vim.env.SAID)
vim.cmd("qall!")
"""


def version() -> tuple[int, ...]:
    text = subprocess.run([EDITOR, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


@pytest.mark.skipif(not EDITOR or version() < (0, 7), reason="needs Neovim 0.7 or newer")
def test_neovim_shows_hover_lens_action_winners_and_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site(tmp_path / "site")
    (configuration,) = re.findall(r"```lua\n(.*?)```", (ROOT / "docs/editor.md").read_text("utf-8"), re.DOTALL)
    assert len(configuration.splitlines()) <= 20
    (tmp_path / "init.lua").write_text(configuration)
    (tmp_path / "ask.lua").write_text(ASK)
    program = tmp_path / "nodeattrs"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m nodeattrs "$@"\n')
    program.chmod(0o755)
    own = {f"XDG_{name}_HOME": str(tmp_path / "own") for name in ("CACHE", "CONFIG", "DATA", "STATE")}
    environment = {**os.environ, **own, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SAID": str(tmp_path / "said")}
    words = [EDITOR, "--headless", "-u", tmp_path / "init.lua", "-c", f"luafile {tmp_path / 'ask.lua'}"]
    subprocess.run(words, cwd=folder, env=environment, check=True, timeout=300, capture_output=True)
    said = json.loads((tmp_path / "said").read_text())

    monkeypatch.setenv("COLUMNS", "300")
    main(["where", "roles/web.json:4", "--repo", str(folder)])
    first, *rest = capsys.readouterr().out.splitlines()
    expected = [first.removeprefix("roles/web.json:4  "), *(line.strip() for line in rest)]
    assert [re.sub(r"\*\*|`", "", line).strip() for line in said["hover"]] == expected
    ((line, lens),) = said["lenses"]
    assert line == 4
    assert expected[1].startswith(f"{lens}: ")
    assert said["actions"] == ["go to the winning line: environments/prod.json:4"]
    file, line, messages = said["action"]
    assert (file, line) == ("prod.json", 4) or messages[0].startswith("environments/prod.json:4 wins")
    assert sorted(said["winners"]) == ["environments/prod.json:4", "roles/web.json:4"]
    assert said["problems"] == [[4, "there is no role gone\nknown are old, web"]]
