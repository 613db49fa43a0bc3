// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// STRATA_VECTOR_CLONES before a function: compiled for several vector widths, the best of them chosen when the program
/// is loaded. Sanitizers run before that choice can be made, and clang does it differently: both get the plain version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define STRATA_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STRATA_VECTOR_CLONES
#endif

/// STRATA_SIMD(clauses) before a loop whose steps do not depend on each other: vectors of them, whatever the optimiser
/// thinks of it. Builds without OpenMP leave it to the optimiser.
#ifdef _OPENMP
#define STRATA_PRAGMA(text) _Pragma(#text)
#define STRATA_SIMD(clauses) STRATA_PRAGMA(omp simd clauses)
#else
#define STRATA_SIMD(clauses)
#endif

/// For templates and lambdas in such functions: compiled as a part of each.
#define STRATA_ALWAYS_INLINE __attribute__((always_inline))
