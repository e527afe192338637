"""Our Neovim plugin: no key says yes to what is not on the screen, and none takes another meaning of Neovim's."""

from pathlib import Path

from tests.e2e.nvim_support import NVIM, Desk, editor, edits

LONG = "".join(f"line {number}\n" for number in range(200))
DONE = {"text": "Done."}
KNOWN = {"ga"}
"""The code of a character: `:ascii` says it too."""
MAPS = """
local function plain(maps)
  return vim.tbl_map(function(map) return { lhs = map.lhs, nowait = map.nowait == 1 } end, maps)
end
return plain"""


def test_no_key_hides_one_of_neovims_or_begins_one(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=LONG), edits("a.txt", ("line 5\n", "5\n")), DONE) as nvim:
        defaults = {m["lhs"] for m in nvim.lua(MAPS + "(vim.api.nvim_get_keymap('n'))")}
        nvim.open("a.txt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        ours = {m["lhs"]: m for m in nvim.lua(MAPS + "(vim.api.nvim_buf_get_keymap(0, 'n'))")}
        tags = Path(nvim.lua("return vim.env.VIMRUNTIME")) / "doc" / "tags"
        builtin = {line.split("\t")[0] for line in tags.read_text().splitlines()}

        assert NVIM.exists()
        assert len(ours) >= 9
        assert not (set(ours) - KNOWN) & builtin
        assert not [(o, d) for o in ours for d in defaults if d.startswith(o) or o.startswith(d)]
        assert not [lhs for lhs, each in ours.items() if each["nowait"]]
        for mode in ("x", "i", "o"):
            assert not nvim.lua("return vim.api.nvim_buf_get_keymap(0, ...)", mode)


def test_a_yes_to_a_hunk_that_is_off_screen_brings_it_into_view_and_decides_nothing(
    tmp_path: Path,
) -> None:
    step = edits("a.txt", ("line 5\n", "five\n"), ("line 150\n", "very late\n"))
    with editor(Desk.at(tmp_path, a__txt=LONG), step, DONE) as nvim:
        nvim.open("a.txt")
        nvim.type("100Gzt")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(2)
        nvim.wait("table.concat(_G.said):find('waits off screen: :Agent next', 1, true)")
        assert "2 off screen" in nvim.lua('return require("agent.status").component()')
        nvim.type("ga")
        nvim.wait("table.concat(_G.said):find('nothing was decided', 1, true)")
        nvim.wait_for_screen("five")

        assert nvim.lua('return #require("agent.review").pending()') == 2
        nvim.type("ga")
        nvim.wait_hunks(1)
        assert "1 off screen" in nvim.lua('return require("agent.status").component()')


def test_rename_typed_by_hand_while_an_edit_waits_rejects_nothing(tmp_path: Path) -> None:
    with editor(Desk.at(tmp_path, a__txt=LONG), edits("a.txt", ("line 5\n", "5\n")), DONE) as nvim:
        nvim.open("a.txt")
        nvim.lua("vim.keymap.set('n', 'grn', '<Cmd>let g:renamed = 1<CR>')")
        nvim.command("Agent ask change it")
        nvim.wait_hunks(1)
        nvim.type("grn")
        nvim.wait("vim.g.renamed == 1")

        nvim.wait_hunks(1)
