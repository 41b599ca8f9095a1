"""How the weights of several sizes were fitted, and whether late vectors can be trusted to rank."""

from __future__ import annotations

from chunkwise.experiments.tuning import Fit
from chunkwise.report.page_text import attribute, words
from chunkwise.report.scale import axis_of, scale_of
from chunkwise.report.tuning.measured import Measured

_NAMES = {"kendall_tau": "Kendall’s τ"}


def weights(measured: Measured) -> str:
    """Two cards, where there is something to tell."""
    tuning = measured.tuning
    cards = _fit(tuning.fit) if tuning.fit else ""
    if tuning.agreement:
        rows = "".join(
            f'<tr><th scope="row">{attribute(_NAMES.get(name, name), 60)}</th><td>{value:.4g}</td></tr>'
            for name, value in tuning.agreement.items()
        )
        cards += (
            '<article class="card"><h3>Late vectors and vectors of their own</h3><p>The sweep takes the vectors of'
            " every chunking out of one pass over the documents (late). The finalists and the defaults were also"
            " embedded chunk by chunk (own); names that end in “own vectors” are those. How alike the two rank"
            " them, Kendall’s τ: 1 is the same order, 0 no relation.</p>"
            f'<table class="plain"><tbody>{rows}</tbody></table></article>'
        )
    return f'<div class="two">{cards}</div>' if cards else ""


def _fit(fit: Fit) -> str:
    scale = scale_of((mean for _, mean in fit.tried), 4)
    rows = "".join(
        f'<tr><th scope="row"><code>{words(label, 120)}</code>{" <b>kept</b>" if label == fit.kept else ""}</th>'
        f'<td class="drawn"><svg class="line" height="16" aria-hidden="true"><line class="rule" x1="0" x2="100%" y1="8"'
        f' y2="8"/><circle class="dot" cx="{scale.at(mean)}" cy="8" r="5.5"/></svg></td><td>{mean:.3f}</td></tr>'
        for label, mean in fit.tried
    )
    return (
        f'<article class="card lever"><h3>Weights of several sizes at once</h3><p>{words(fit.why, 600)}</p>'
        '<table class="levels"><caption>Cross-validated means by weights</caption><thead><tr>'
        '<th scope="col">weights</th><th scope="col" class="scale">'
        f'{axis_of(scale)}</th><th scope="col">mean</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></article>"
    )
