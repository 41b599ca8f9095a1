"""What a server did, as Prometheus reads it: requests by address and status, how long they took, what is at work."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper ends of the ranges that times are counted in."""


class RequestMetrics:
    """Addresses are those that are declared, never those that are asked for: the number of series is bounded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(SECONDS) + 1))
        self._sums: defaultdict[str, float] = defaultdict(float)

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, path, status] += 1
            self._times[path][bisect_left(SECONDS, seconds)] += 1
            self._sums[path] += seconds

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """The text format 0.0.4; `gauges` are values of this moment, by name, each with its help."""
        with self._lock:
            name = "chunkwise_requests_total"
            lines = [f"# HELP {name} Requests that were answered.", f"# TYPE {name} counter"]
            for (method, path, status), count in sorted(self._requests.items()):
                lines.append(f'{name}{{method="{method}",path="{path}",status="{status}"}} {count}')
            name = "chunkwise_request_seconds"
            lines += [f"# HELP {name} Time to the whole answer.", f"# TYPE {name} histogram"]
            for path, counts in sorted(self._times.items()):
                so_far = 0
                for end, count in zip((*SECONDS, "+Inf"), counts, strict=True):
                    so_far += count
                    lines.append(f'{name}_bucket{{path="{path}",le="{end}"}} {so_far}')
                lines.append(f'{name}_sum{{path="{path}"}} {self._sums[path]:.6f}')
                lines.append(f'{name}_count{{path="{path}"}} {so_far}')
        for gauge, (help, value) in gauges.items():
            lines += [f"# HELP {gauge} {help}", f"# TYPE {gauge} gauge", f"{gauge} {value:g}"]
        return "\n".join(lines) + "\n"
