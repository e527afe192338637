"""`doctor`: is everything in place, and if not, what to do. Looks, never changes; prints no credential."""

from collections.abc import Mapping
from pathlib import Path

from agent_server.commands.check_machine import (
    check_editors,
    check_python,
    check_ripgrep,
    check_sandbox,
    check_startup_code,
)
from agent_server.commands.check_model import check_keys, check_model
from agent_server.commands.check_store import check_store
from agent_server.commands.findings import Finding, lines
from agent_server.commands.output import say
from agent_server.config import Home, Problem, Settings
from agent_server.config_load import home_of, load
from agent_server.options import Options


def examine(options: Options, *, environ: Mapping[str, str], cwd: Path) -> int:
    """Check everything and print what was found; 1 when there is a problem."""
    home = home_of(options, environ)
    settings, findings = check_config(home, options, environ=environ, cwd=cwd)
    findings = [
        check_python(),
        *findings,
        *check_keys(settings, environ),
        *check_model(settings, environ, option=options.model),
        *check_store(home.sessions_db),
        check_ripgrep(),
        check_sandbox(),
        check_editors(),
        *check_startup_code(),
    ]
    for line in lines(findings):
        say(line)
    return 1 if any(finding.state == "problem" for finding in findings) else 0


def check_config(
    home: Home, options: Options, *, environ: Mapping[str, str], cwd: Path
) -> tuple[Settings, list[Finding]]:
    """The settings as a session in `cwd` would get them, and each of them that was not taken."""
    given = {"model": options.model, "mode": options.mode, "log_level": options.log_level}
    overrides = {key: value for key, value in given.items() if value is not None}
    settings, problems = load(home, cwd, environ, overrides)
    if home.config_named and not home.config_toml.exists():
        problem = Finding("problem", f"{options.config} does not exist", "correct --config")
        others = [p for p in problems if p.source != str(home.config_toml)]
        return settings, [*map(_finding, others), problem]
    found = [_finding(problem) for problem in problems]
    there = "read" if home.config_toml.exists() else "not there, which is fine"
    return settings, found or [Finding("OK", f"settings ({home.config_toml}: {there})")]


def _finding(problem: Problem) -> Finding:
    if problem.idle:
        return Finding("note", str(problem))
    return Finding("problem", str(problem), "correct or remove it; until then the default holds")
