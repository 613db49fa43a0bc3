# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Work in processes of its own: what crashes or hangs is one operator's, module's or network's."""
import collections
import os
import pickle
import signal
import traceback


def _start(function, seconds, quiet):
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        os.close(read)
        signal.alarm(seconds)
        for descriptor in quiet:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        with os.fdopen(write, "wb") as stream:
            pickle.dump(function(), stream)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _end(child, read):
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    status = os.waitpid(child, 0)[1]
    return (None, status) if status else (pickle.loads(data), 0)


def result_of(function, seconds=0, quiet=()):
    """(what `function` returns, 0), or (None, the status) of a process that crashed or took longer than `seconds` (0: no limit). What is
    written to the descriptors `quiet` goes nowhere."""
    return _end(*_start(function, seconds, quiet))


def totals_of(items, work, jobs, lost):
    """The sum of the counters that `work(item)` gives, `jobs` items at a time; a job that ends early counts as one `lost`."""

    def share(job):
        return sum((work(item) for item in items[job::jobs]), collections.Counter())

    started = [_start(lambda job=job: share(job), 0, ()) for job in range(jobs)]
    counted = [_end(*each)[0] for each in started]
    return sum((each if each is not None else collections.Counter({lost: 1}) for each in counted), collections.Counter())
