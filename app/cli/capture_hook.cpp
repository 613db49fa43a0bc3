// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/cli/capture_hook.h"

namespace strata::cli {

std::string_view capture_hook() {
  return R"PY("""Put in front of a script by `strata capture`. Does nothing until torch is imported."""
import os
import sys


class _Recorder:
    def __init__(self):
        self.folder = os.environ.get("STRATA_CAPTURE_FOLDER", "")
        self.wanted = os.environ.get("STRATA_CAPTURE_PROFILE", "") == "1"
        self.stack = os.environ.get("STRATA_CAPTURE_STACK", "") == "1"
        self.profiler = None
        self.pid = os.getpid()

    def say(self, text):
        print("strata: " + text, file=sys.stderr, flush=True)

    def is_helper(self):
        """Launchers and compile workers import torch too, but compute nothing."""
        words = getattr(sys, "orig_argv", sys.argv)
        names = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "compile_worker", "compile_worker/__main__.py")
        return any(w.endswith(names) for w in words[:6]) or any("torch._inductor.compile_worker" in w for w in words[:6])

    def torch_imported(self, torch):
        if self.is_helper():
            return
        with open(os.path.join(self.folder, "torch", str(self.pid)), "w") as file:
            file.write(str(getattr(torch, "__version__", "")))
        if self.wanted:
            self.start(torch)

    def start(self, torch):
        import atexit
        import signal
        import torch.autograd.profiler as base
        import torch.profiler

        self.profiler = torch.profiler.profile(record_shapes=True, with_stack=self.stack)
        self.give_way(base)
        self.profiler.start()
        atexit.register(self.finish)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)
        try:  # only the main thread may; a handler of the script replaces this one
            if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                signal.signal(signal.SIGTERM, self.terminated)
        except ValueError:
            pass

    def give_way(self, base):
        """There can be one profiler at a time: the script's own comes first."""
        def wrap(name):
            original = getattr(base.profile, name, None)
            if original is None:
                return

            def method(other, *args, **kwargs):
                mine = self.profiler is not None and other is getattr(self.profiler, "profiler", None)
                if self.profiler is not None and not mine and not self.starting:
                    self.say("the script profiles itself: strata's profile ends here")
                    self.finish()
                return original(other, *args, **kwargs)

            setattr(base.profile, name, method)

        self.starting = False
        start = self.profiler.start

        def started():
            self.starting = True
            try:
                start()
            finally:
                self.starting = False

        self.profiler.start = started
        for name in ("_prepare_trace", "__enter__"):
            wrap(name)

    def forget(self):
        self.profiler = None

    def terminated(self, number, frame):
        import signal
        self.finish()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def finish(self):
        profiler, self.profiler = self.profiler, None
        if profiler is None or os.getpid() != self.pid:
            return
        import signal
        try:  # a second Ctrl-C must not cut the file short
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        except ValueError:
            before = None
        try:
            profiler.stop()
            rank = os.environ.get("RANK")
            name = "%s%d.json" % ("rank_%s_" % rank if rank else "", self.pid)
            part = os.path.join(self.folder, "profile", "." + name)
            profiler.export_chrome_trace(part)
            os.rename(part, os.path.join(self.folder, "profile", name))
        except Exception as error:
            self.say("no profile of process %d: %s" % (self.pid, error))
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)


class _TorchFinder:
    """Finds torch as everybody else does, and calls back when it is loaded."""

    def __init__(self, recorder):
        self.recorder = recorder

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        import importlib.util
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        recorder, execute = self.recorder, spec.loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                recorder.torch_imported(module)
            except Exception as error:
                recorder.say("the script is not profiled: %s" % error)

        spec.loader.exec_module = exec_module
        return spec


def _run_hidden_sitecustomize():
    """This file hides another of its name further down the path."""
    import importlib.machinery
    import importlib.util
    here = os.path.dirname(os.path.abspath(__file__))
    path = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("STRATA_CAPTURE_FOLDER"):
    sys.meta_path.insert(0, _TorchFinder(_Recorder()))
_run_hidden_sitecustomize()
)PY";
}

}  // namespace strata::cli
