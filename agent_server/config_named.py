"""The options of the command line that name files: checked before anything starts, since somebody relies on them.

A `config.toml` that is simply there may be broken, and the rest still works (spec §4). A file that the user named is
what they want to be in force: rules in it that are silently not read would allow what it forbids.
"""

import os
import stat
from pathlib import Path

from agent_server.loop.errors import BadSetting
from agent_server.options import Options


def with_named_files(options: Options) -> Options:
    """Check the files that the options name, and make their paths absolute, since children run elsewhere.

    Raises:
        BadSetting: one of them is missing, cannot be read or written, or is not TOML.
    """
    if options.config is not None:
        check_settings_file(options.config)
    for name, path in (("--log-file", options.log_file), ("--trace", options.trace)):
        if path is not None:
            _check_writable(name, path)
    return Options(
        model=options.model,
        mode=options.mode,
        config=_absolute(options.config),
        log_level=options.log_level,
        log_file=_absolute(options.log_file),
        trace=_absolute(options.trace),
    )


def check_settings_file(path: str) -> None:
    """See that the file can be read and is TOML; what is in it is checked later, key by key.

    Raises:
        BadSetting: it is not; the text names file and line.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            # A pipe could be read once only, and every session reads the file anew.
            raise BadSetting(f"--config {path}: is not a file")
        text = Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise BadSetting(f"--config {path}: there is no such file") from None
    except UnicodeDecodeError as error:
        raise BadSetting(f"--config {path}: is not UTF-8: {error.reason}") from error
    except OSError as error:
        raise BadSetting(f"--config {path}: cannot be read: {error.strerror}") from error
    _check_toml(path, text)


def _check_toml(path: str, text: str) -> None:
    import tomllib  # only where a file is named: the first answer of a plain start does not wait for it

    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error).replace(
            "at end of document", f"at line {text.count(chr(10)) + 1}, the end"
        )
        raise BadSetting(f"--config {path}: is not valid TOML: {said}") from error
    except RecursionError as error:
        raise BadSetting(f"--config {path}: is nested too deeply") from error


def _check_writable(option: str, path: str) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600))
    except OSError as error:
        raise BadSetting(f"{option} {path}: cannot be written: {error.strerror}") from error


def _absolute(path: str | None) -> str | None:
    return None if path is None else str(Path(path).absolute())
