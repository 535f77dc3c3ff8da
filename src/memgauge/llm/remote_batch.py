"""Many calls at once, within a bound, in one event loop; what happens to the rest when one of them ends the batch."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable


class Batch:
    """The calls 0 to count - 1, started in order; `run_call(position)` makes one and reports it.

    When one raises, no further call starts, calls under way are finished, those that wait to be tried again are
    given up, and the first exception goes on to the caller.
    """

    def __init__(self, count: int, run_call: Callable[[int], Awaitable[None]]) -> None:
        self.waiting = deque(range(count))
        self.run_call = run_call
        self.stopped = False
        self.error: BaseException | None = None
        self.pausing: set[asyncio.Task[None]] = set()

    async def run(self, concurrency: int) -> None:
        """Make all calls, at most `concurrency` at a time; an interrupt ends the batch like an exception."""
        workers = [asyncio.create_task(self._work()) for _ in range(min(concurrency, len(self.waiting)))]
        try:
            await asyncio.wait(workers)
        except asyncio.CancelledError:
            self._stop()
            await asyncio.wait(workers)
            raise
        if self.error is not None:
            raise self.error

    async def pause(self, sleeping: Awaitable[None]) -> None:
        """Wait before a call is tried again; ends the call when the batch was or is stopped meanwhile."""
        task = asyncio.ensure_future(sleeping)
        if self.stopped:
            task.cancel()
        self.pausing.add(task)
        try:
            await task
        finally:
            self.pausing.discard(task)

    async def _work(self) -> None:
        while self.waiting:
            try:
                await self.run_call(self.waiting.popleft())
            except BaseException as error:  # kept, to be raised by `run` when the calls under way are done
                self.error = self.error or error
                self._stop()

    def _stop(self) -> None:
        self.stopped = True
        self.waiting.clear()
        for task in self.pausing:
            task.cancel()
