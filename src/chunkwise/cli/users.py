"""`chunkwise users`: who may come in to a studio or a server that others reach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chunkwise.cli.streams import say

if TYPE_CHECKING:
    from chunkwise.studio.accounts import Account, Role

_EXAMPLES = """
\b
Examples:
  chunkwise users add users.json ana --role owner          # asks for a password; only its hash is kept
  chunkwise users key users.json wiki                      # prints a new key, once; only its hash is kept
  chunkwise users role users.json ana labeller
  chunkwise users list users.json
  chunkwise users remove users.json ana                    # out at once, also where a studio is running
\b
Roles: reader looks, searches and asks; labeller labels, too; owner starts sweeps and changes indexes, too.
"""
_ROLES = ("reader", "labeller", "owner")
_file = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
_name = click.argument("name")
_role = click.option(
    "--role", type=click.Choice(_ROLES), help="What it may do.  [default: reader, or as it was]"
)


@click.group("users", epilog=_EXAMPLES)
def command() -> None:
    """Say who may come in where others reach a studio or a server: names, roles, passwords, keys."""


@command.command("add")
@_file
@_name
@_role
def add(file: Path, name: str, role: Role | None) -> None:
    """Add a user, or set another password; it is asked for, or read from stdin."""
    from chunkwise.studio.accounts import with_account

    if sys.stdin.isatty():
        password = click.prompt(
            f"password for {name}", hide_input=True, confirmation_prompt=True, err=True
        )
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise click.UsageError("the password is empty; type one, or hand it over on stdin")
    _write(file, with_account(_known(file), name, role, password=password))
    say(f"{name} is in {file}")


@command.command("key")
@_file
@_name
@_role
def key(file: Path, name: str, role: Role | None) -> None:
    """Print a new key for a program, which is kept as its hash alone."""
    from chunkwise.studio.accounts import new_key, with_account

    made = new_key()
    _write(file, with_account(_known(file), name, role, key=made))
    click.echo(made)
    say(f"a key of {name}; it is shown this once, and sent as `Authorization: Bearer KEY`")


@command.command("role")
@_file
@_name
@click.argument("role", type=click.Choice(_ROLES))
def role(file: Path, name: str, role: Role) -> None:
    """Give a user another role."""
    from chunkwise.studio.accounts import with_account, without_account

    known = _known(file)
    without_account(known, name)  # that there is one
    _write(file, with_account(known, name, role))
    say(f"{name} is {role}")


@command.command("list")
@_file
def list_users(file: Path) -> None:
    """List the users of a file with their roles."""
    from chunkwise.base.wording import counted
    from chunkwise.studio.accounts import read_accounts

    for each in read_accounts(file):
        how = ["password"] if each.password else []
        how += [counted(len(each.keys), "key")] if each.keys else []
        click.echo(f"{each.name}\t{each.role}\t{', '.join(how)}")


@command.command("remove")
@_file
@_name
def remove(file: Path, name: str) -> None:
    """Remove a user with its password and its keys."""
    from chunkwise.studio.accounts import without_account

    _write(file, without_account(_known(file), name))
    say(f"{name} is removed from {file}")


def _known(file: Path) -> tuple[Account, ...]:
    from chunkwise.studio.accounts import read_accounts

    return read_accounts(file) if file.exists() else ()


def _write(file: Path, accounts: list[Account]) -> None:
    from chunkwise.studio.accounts import write_accounts

    write_accounts(file, accounts)
