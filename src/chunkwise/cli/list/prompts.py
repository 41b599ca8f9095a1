"""`chunkwise list prompts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from chunkwise.base.atomic_files import says_what_it_writes
from chunkwise.base.errors import ChunkwiseError
from chunkwise.base.schema import Option, argument
from chunkwise.base.wording import counted
from chunkwise.cli.dataclass_options import dataclass_command
from chunkwise.cli.options import Force, JsonOption
from chunkwise.cli.streams import print_json, say
from chunkwise.report.sanitize import one_line


class PromptsOptions(JsonOption):
    """The options of `chunkwise list prompts`."""

    names: Annotated[tuple[str, ...], argument("[NAMES]...")] = ()
    copy: Annotated[Path | None, Option(
        "Copy the prompts into a folder for editing", metavar="FOLDER", common=True
    )] = None  # fmt: skip
    force: Force = False


@dataclass_command("prompts", PromptsOptions)
def command(options: PromptsOptions) -> None:
    """List LLM prompts, show them, or copy them for editing.

    CHUNKWISE_PROMPTS=FOLDER uses the prompts in FOLDER.

    Examples:
      chunkwise list prompts
      chunkwise list prompts judge_relevance
      chunkwise list prompts --copy my-prompts
    """
    if options.copy is not None:
        _copy(options, options.copy)
    elif options.names:
        _show(options)
    else:
        _list(options)


def _list(options: PromptsOptions) -> None:
    from chunkwise.models.llm.prompt import PROMPTS_VARIABLE, own_folder, prompt_names

    names = prompt_names()
    rows = [_row(name) for name in names]
    if options.as_json:
        print_json(rows)
    else:
        for row in rows:
            file = f"  custom: {row['file']}" if row["file"] else ""
            click.echo(one_line(f"{row['version']}  placeholders: {', '.join(row['gaps'])}{file}"))
    folder = own_folder()
    for stray in sorted(folder.glob("*.md")) if folder else ():
        if stray.stem not in names:
            say(f"{stray} is not a prompt; allowed in {PROMPTS_VARIABLE}: {', '.join(names)}")


def _show(options: PromptsOptions) -> None:
    from chunkwise.models.llm.prompt import load_prompt

    prompts = {name: load_prompt(name) for name in options.names}
    if options.as_json:
        print_json([
            {**_row(name), "system": prompt.system, "user": prompt.user}
            for name, prompt in prompts.items()
        ])  # fmt: skip
        return
    for prompt in prompts.values():
        number = prompt.version.partition("@")[2].partition(":")[0]
        click.echo(f"version: {number}\n---\n{prompt.system}\n---\n{prompt.user}")


def _copy(options: PromptsOptions, folder: Path) -> None:
    from chunkwise.models.llm.prompt import packaged_prompt, packaged_text, prompt_names

    names = [packaged_prompt(name).name for name in options.names] or prompt_names()
    files = {name: folder / f"{name}.md" for name in names}
    existing = [str(file) for file in files.values() if file.exists()]
    if existing and not options.force:
        raise ChunkwiseError(f"{existing[0]} exists; --force overwrites it")
    with says_what_it_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            file.write_text(packaged_text(name), encoding="utf-8")
    count = counted(len(files), "prompt")
    options.answer(
        {name: str(file) for name, file in files.items()},
        f"copied {count} to {folder}; to use them, set CHUNKWISE_PROMPTS={folder}",
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
