#!/bin/sh
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the pictures of docs/images: sincos and cnn_fmnist, as captured and as scheduled; the window on bert, and on what
# PyTorch left behind of a script that breaks and of a network that was trained.
#
#     docs/make_pictures.sh [BUILD]
#
# BUILD is the build folder (default: build), with bin/strata and the sample models in it.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
strata=$build/bin/strata
traces=$(mktemp -d)
trap 'rm -rf "$traces"' EXIT
mkdir -p docs/images

picture() { # NAME PROGRAM
  "$strata" compile "$2" -o "$traces/$1.strata"
  for stage in captured scheduled; do
    "$strata" export "$traces/$1.strata" --stage $stage --format svg -o "docs/images/$1_$stage.svg"
  done
}

picture sincos examples/sincos/sincos.pt2
picture cnn_fmnist "$build/models/cnn_fmnist/cnn_fmnist.pt2"

# The window on bert, with times.
"$strata" run "$build/models/bert/bert.pt2" --repeat 20 --trace "$traces/bert.strata" >/dev/null
QT_QPA_PLATFORM=offscreen "$build/bin/strata-studio" "$traces/bert.strata" --stage scheduled --select gelu --view code \
  --screenshot docs/images/window_bert_scheduled.png --size 1600x1000

# What PyTorch left behind: an overview, the source with its margin, a timeline under the fused graph.
window() { # NAME TRACE OPTION...
  name=$1 trace=$2
  shift 2
  QT_QPA_PLATFORM=offscreen "$build/bin/strata-studio" "$traces/$trace.strata" "$@" \
    --screenshot "docs/images/$name.png" --size 1600x1000
}
torch=tests/data/torch
"$strata" import "$torch/logs/breaks_many.log.gz" -o "$traces/breaks.strata" >/dev/null
"$strata" import "$torch/logs/cnn_fmnist_provenance.log.gz" "$torch/profiles/cnn_fmnist_compiled.json.gz" \
  -o "$traces/trained.strata" >/dev/null
"$strata" import "$torch/logs/cnn_fmnist_provenance.log.gz" "$torch/profiles/cnn_fmnist_compiled.json.gz" \
  "$torch/profiles/cnn_fmnist_eager.json.gz" -o "$traces/both.strata" >/dev/null
window window_overview breaks --view overview
window window_source breaks --graph 4/1_2 --view source --theme dark
window window_timeline trained --stage scheduled:forward --view timeline
window window_steps bert --stage decomposed@5 --view diff
window window_panes bert --stage scheduled --select gelu --pane captured --pane loops --view source --theme dark
window window_compare both --view compare
