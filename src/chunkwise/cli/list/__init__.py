"""`chunkwise list`: each list in a file of its own."""

from chunkwise.cli.groups import LazyGroup

command = LazyGroup(
    "list",
    package="chunkwise.cli.list",
    help="List strategies, metrics, prompts, plugins and the names of an index.",
    summaries={
        "strategies": "Chunking strategies, their parameters and when to use them",
        "metrics": "Metrics, their bounds, targets and requirements",
        "prompts": "LLM prompts; copy them for editing",
        "plugins": "Installed plugins by kind, and loading errors",
        "names": "Names in an index built with --graph",
    },
)
