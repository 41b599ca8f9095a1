"""`chunkwise prompts`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import CommandGroup
from chunkwise.cli.streams import print_json, say

_EXAMPLES = """
\b
Examples:
  chunkwise prompts                        # all prompts, and which are your own
  chunkwise prompts show judge_relevance
  chunkwise prompts copy my-prompts        # then change a file, and:
  CHUNKWISE_PROMPTS=my-prompts chunkwise ask kb "who approves leave?" --llm local
"""
_SHOW_EXAMPLES = """
\b
Examples:
  chunkwise prompts show answer
  chunkwise prompts show answer --json
"""
_COPY_EXAMPLES = """
\b
Examples:
  chunkwise prompts copy my-prompts
  chunkwise prompts copy my-prompts --only answer --only summary
"""

_as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout and nothing else."
)


@click.group("prompts", cls=CommandGroup, invoke_without_command=True, epilog=_EXAMPLES)
@_as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show the prompts for language models, and copy them to change them."""
    if context.invoked_subcommand is None:
        context.invoke(list_prompts, as_json=as_json)


@command.command("list", epilog=_EXAMPLES)
@_as_json
def list_prompts(as_json: bool) -> None:
    """List every prompt with its version and the gaps that are filled in."""
    from chunkwise.models.llm.prompt import PROMPTS_VARIABLE, own_folder, prompt_names
    from chunkwise.report.sanitize import one_line

    names = prompt_names()
    rows = [_row(name) for name in names]
    if as_json:
        print_json(rows)
    else:
        for each in rows:
            own_file = f"  your own: {each['file']}" if each["file"] else ""
            click.echo(one_line(f"{each['version']}  gaps: {', '.join(each['gaps'])}{own_file}"))
    folder = own_folder()
    for stray in sorted(folder.glob("*.md")) if folder else ():
        if stray.stem not in names:
            say(f"{stray} stands for no prompt; {PROMPTS_VARIABLE} may have: {', '.join(names)}")


@command.command("show", epilog=_SHOW_EXAMPLES)
@click.argument("name")
@_as_json
def show(name: str, as_json: bool) -> None:
    """Show one prompt as it is used: your own if you have one, else the package's."""
    from chunkwise.models.llm.prompt import load_prompt

    prompt = load_prompt(name)
    if as_json:
        more = {"system": prompt.system, "user": prompt.user}
        print_json({**_row(name), **more})
        return
    number = prompt.version.partition("@")[2].partition(":")[0]
    click.echo(f"version: {number}\n---\n{prompt.system}\n---\n{prompt.user}")


@command.command("copy", epilog=_COPY_EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--only", multiple=True, metavar="NAME", help="Copy only this prompt. May be repeated."
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@_as_json
def copy(folder: Path, only: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Write the package's prompts into FOLDER, where you can change them; CHUNKWISE_PROMPTS=FOLDER puts them to use."""
    from chunkwise.base.atomic_files import says_what_it_writes
    from chunkwise.base.errors import ChunkwiseError
    from chunkwise.models.llm.prompt import packaged_prompt, packaged_text, prompt_names

    names = [packaged_prompt(name).name for name in only] or prompt_names()
    files = {name: folder / f"{name}.md" for name in names}
    there = [str(file) for file in files.values() if file.exists()]
    if there and not force:
        raise ChunkwiseError(
            f"{there[0]} is there already; --force writes over it, --only NAME leaves it"
        )
    with says_what_it_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            file.write_text(packaged_text(name), encoding="utf-8")
    if as_json:
        print_json({name: str(file) for name, file in files.items()}, indent=None)
    else:
        say(
            f"{counted(len(files), 'prompt')} in {folder}; change them, and set CHUNKWISE_PROMPTS={folder}"
        )


def _row(name: str) -> dict[str, Any]:
    from chunkwise.models.llm.prompt import load_prompt, own_prompt

    prompt, own_file = load_prompt(name), own_prompt(name)
    return {
        "name": name,
        "version": prompt.version,
        "gaps": sorted(prompt.gaps),
        "file": str(own_file) if own_file else None,
    }
