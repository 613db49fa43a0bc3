#!/bin/sh
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
#
# Makes the pictures of docs/images: sincos and cnn_fmnist, as captured and as scheduled.
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
