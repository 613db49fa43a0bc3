#!/usr/bin/env bash
# with_wheel.sh WHEEL [PYTHON]: every Python test with a wheel, on a machine where nothing has been built.
set -uo pipefail
wheel=$(realpath "$1")
python=${2:-python3}
cd "$(dirname "$0")/../.."
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
"$python" -m zipfile -e "$wheel" "$site" || exit 2
"$python" -c 'import sys, torch; print("Python", sys.version.split()[0], "with PyTorch", torch.__version__)' 2>/dev/null || echo "no PyTorch: most is skipped"
failed=0
for test in tests/python/test_*.py; do
  [ "$test" != tests/python/test_package.py ] || continue # needs the models that a build unpacks
  echo "== $test"
  PYTHONPATH=$site OMP_WAIT_POLICY=passive CUDA_VISIBLE_DEVICES='' "$python" "$test" >"$site/log" 2>&1
  status=$?
  tail -n 3 "$site/log"
  [ $status = 0 ] || [ $status = 77 ] || { failed=1; grep -E -A 25 '^(FAIL|ERROR|Traceback)' "$site/log" | head -n "${STRATA_LINES:-60}"; }
done
exit $failed
