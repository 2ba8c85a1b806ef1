"""A spec with a matrix of 80 rows, which tests of runs share."""

from __future__ import annotations

from matrices.test_matrices import BASE

SPEC = BASE + "matrix m { extra in 1..20 by 1; host in [box, big]; size in [100, 900 byte/packet] }"
