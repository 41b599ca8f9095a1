"""`chunkwise serve users`: who may come in to a studio or a server that others reach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from chunkwise.base.schema import Option, Options, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.groups import CommandGroup
from chunkwise.cli.options import JsonOption
from chunkwise.cli.streams import print_json, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.studio.accounts import Account

Role = Literal["reader", "labeler", "owner"]


class UserOptions(Options):
    """One user of a file."""

    file: Annotated[Path, argument("FILE")]
    name: Annotated[str, argument("NAME")]


class NewUserOptions(UserOptions):
    """A user who is added, or known already."""

    role: Annotated[Role | None, Option(
        "Permissions", default_text="reader, or the current role", common=True
    )] = None  # fmt: skip


class UserRoleOptions(Options):
    """A user and the role it gets."""

    file: Annotated[Path, argument("FILE")]
    name: Annotated[str, argument("NAME")]
    role: Annotated[Role, argument("ROLE")]


class UserListOptions(JsonOption):
    """The options of `chunkwise serve users list`."""

    file: Annotated[Path, argument("FILE")]


@dataclass_command("add", NewUserOptions)
def add(options: NewUserOptions) -> None:
    """Add a user or change a password; it is prompted for, or read from stdin.

    Examples:
      chunkwise serve users add users.json ana --role owner
      chunkwise serve users add users.json ben
    """
    from chunkwise.studio.accounts import change_accounts, with_account

    if sys.stdin.isatty():
        password = click.prompt(
            f"password for {options.name}", hide_input=True, confirmation_prompt=True, err=True
        )
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise click.UsageError("the password is empty; type one, or pipe it to stdin")
    change_accounts(
        options.file,
        lambda known: with_account(known, options.name, options.role, password=password),
    )
    say(f"saved {options.name} in {options.file}")


@dataclass_command("key", NewUserOptions)
def key(options: NewUserOptions) -> None:
    """Create a key for a program and print it once; only its hash is stored.

    Examples:
      chunkwise serve users key users.json wiki
      chunkwise serve users key users.json importer --role labeler
    """
    from chunkwise.studio.accounts import change_accounts, new_key, with_account

    made = new_key()
    change_accounts(
        options.file, lambda known: with_account(known, options.name, options.role, key=made)
    )
    click.echo(made)
    say(f"key of {options.name}, shown only once; send it as `Authorization: Bearer KEY`")


@dataclass_command("role", UserRoleOptions)
def role(options: UserRoleOptions) -> None:
    """Change a user's role.

    Examples:
      chunkwise serve users role users.json ana labeler
    """
    from chunkwise.studio.accounts import change_accounts, with_account, without_account

    def change(known: Sequence[Account]) -> list[Account]:
        without_account(known, options.name)  # raises if there is none
        return with_account(known, options.name, options.role)

    change_accounts(options.file, change)
    say(f"{options.name} is {options.role}")


@dataclass_command("list", UserListOptions)
def list_users(options: UserListOptions) -> None:
    """List users and their roles.

    Examples:
      chunkwise serve users list users.json
      chunkwise serve users list users.json --json
    """
    from chunkwise.studio.accounts import read_accounts

    known = read_accounts(options.file)
    if options.as_json:
        print_json({
            "users": [
                {"name": account.name, "role": account.role, "password": bool(account.password),
                 "keys": len(account.keys)}
                for account in known
            ]
        })  # fmt: skip
        return
    for account in known:
        how = ["password"] if account.password else []
        how += [counted(len(account.keys), "key")] if account.keys else []
        click.echo(f"{account.name}\t{account.role}\t{', '.join(how)}")


@dataclass_command("remove", UserOptions)
def remove(options: UserOptions) -> None:
    """Remove a user, the password and all keys.

    Examples:
      chunkwise serve users remove users.json ana
    """
    from chunkwise.studio.accounts import change_accounts, without_account

    change_accounts(options.file, lambda known: without_account(known, options.name))
    say(f"removed {options.name} from {options.file}")


command = CommandGroup(
    "users",
    help="Manage users and keys of a studio or server: reader, labeler, owner.",
    commands=[add, key, role, list_users, remove],
)
