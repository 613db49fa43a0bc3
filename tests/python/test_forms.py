#!/usr/bin/env python3
# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators that the table does not have under the name PyTorch calls them by: in-place, `out=`, those with a decomposition, and calls
that a row of the table does not cover.

Needs PyTorch 2.4 or later; exit code 77 (skipped) without it.
"""
import unittest

import torch_or_skip

torch_or_skip.check()

import torch

import strata


class Forms(unittest.TestCase):
    def setUp(self):
        strata.reset()
        torch.manual_seed(torch.seed() % 2**31)

    def check(self, function, *operands, opaque=()):
        """Results and operands afterwards as in PyTorch, and the operators that PyTorch is called for."""
        expected_operands, operands = [[v.clone() for v in operands] for _ in range(2)]
        with torch.no_grad():
            expected = function(*expected_operands)
            found = torch.compile(function, backend="strata")(*operands)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(operands, expected_operands)
        reports = strata.reports()
        self.assertEqual([(r.compiled, r.opaque) for r in reports], [(True, tuple(opaque))], reports)

    def test_in_place_operators_without_a_row(self):
        a, b = torch.randn(5), torch.randn(7)
        self.check(lambda x, a, b: x.addr_(a, b).sum(0), torch.randn(5, 7), a, b)
        strata.reset()
        self.check(lambda x, y: x.hypot_(y), torch.randn(3, 4), torch.randn(3, 4))

    def test_out_is_written(self):
        self.check(lambda x, out: torch.angle(x, out=out), torch.randn(3, 4), torch.randn(3, 4))
        strata.reset()
        self.check(lambda x, out: torch.sin(x, out=out) + 1, torch.randn(3, 4), torch.randn(3, 4))
        strata.reset()
        several = lambda x, out, at: torch.sort(x, 1, out=(out, at))[0] * 2
        self.check(several, torch.randn(3, 4), torch.randn(3, 4), torch.randint(9, (3, 4)))

    def test_ends_of_a_range_of_integers_are_integers(self):
        self.check(lambda x: torch.linspace(4.3, -3.8, 50, dtype=torch.int64) + x, torch.randint(9, (50,)))

    def test_what_is_made_for_an_out_is_made_in_its_type(self):
        self.check(lambda out: torch.linspace(4.3, -3.8, 50, out=out) + 1, torch.randint(9, (50,)))
        strata.reset()
        self.check(lambda out: torch.linspace(4.3, -3.8, 50, out=out) + 1, torch.zeros(50, dtype=torch.complex128))
        strata.reset()
        self.check(lambda out: torch.logspace(0.7, 2.9, 9, out=out) + 1, torch.randint(9, (9,)))

    def test_decompositions_that_are_all_ours(self):
        self.check(torch.nn.functional.pairwise_distance, torch.randn(4, 8), torch.randn(4, 8))
        strata.reset()
        self.check(torch.diag_embed, torch.randn(3, 4))

    def test_an_operator_is_called_where_its_decomposition_is_not_all_ours(self):
        self.check(lambda x: torch.linalg.ldl_factor(x)[0], torch.rand(3, 3), opaque=["aten.linalg_ldl_factor.default"])

    def test_rows_with_another_result_are_called(self):
        self.check(torch.square, torch.rand(9) > 0.5, opaque=["aten.square.default"])
        strata.reset()
        images = torch.randint(255, (1, 2, 6, 6), dtype=torch.uint8)
        double = lambda x: torch.nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear")
        self.check(double, images, opaque=["aten.upsample_bilinear2d.vec"])

    def test_complex_arithmetic_is_compiled(self):
        z = torch.randn(4, 4, dtype=torch.complex64)
        self.check(lambda z: (z @ z).t(), z)

    def test_complex_rotation_goes_through_views(self):
        def rotate(x, angles):
            turns = torch.polar(torch.ones_like(angles), angles)
            pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
            return torch.view_as_real(pairs * turns[:, :, None, :]).flatten(3)

        self.check(rotate, torch.randn(2, 5, 4, 6), torch.randn(1, 5, 3))

    def test_the_largest_of_equals_are_pytorchs(self):
        scores = torch.randint(3, (40, 8)).float()
        self.check(lambda x: torch.topk(x, 2, dim=1), scores)
        strata.reset()
        self.check(lambda x: torch.topk(x, 3, dim=1, largest=False, sorted=False), scores)

    def test_borders_are_no_views(self):
        for mode in ("reflect", "replicate", "circular"):
            strata.reset()
            self.check(lambda x: torch.nn.functional.pad(x, (1, 2), mode=mode), torch.randn(2, 3, 5))


if __name__ == "__main__":
    unittest.main(verbosity=1)
