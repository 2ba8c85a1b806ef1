"""What an operation is: its values, bounds and slopes, each operation in one place.

- `formulas.py`, `nodes.py`, `formula_parts.py`: `Formula`: a number, a symbol or an operation on
  formulas. Equal formulas are the same object, in a canonical form; and how to read one
- `operations.py`, `operation_rows.py`: the table of operations, with a row for each operation;
  what a row states. Implementations are loaded on first use
- `evaluators/`: a module a column, with a function for each row (or imported from another module,
  such as `arithmetic_fractions`, `queue_fractions`). All operations are in `on_fractions`,
  `on_floats`, `on_balls` (proven digits), `on_intervals` (one box), `on_arrays`, `on_bounds`
  (boxes of many rows) and `slopes_on_floats`. These have defaults from the row: `on_ranges` (exact
  bounds), `monotonicity` (which way it changes with each operand), `domains` (where it has a
  value, as formulas). Optional: `on_functions` (exact algebra), `active_branch` (next to a kink),
  `printing` (notation), `approximate` (operands for which it is an approximation)
- `exact_values.py`, `value_ranges.py`: exact values, and reasons why there is none; ranges
- `point_values.py`, `gradients.py`: evaluation at a point, exact if possible, otherwise with
  balls; all slopes in one backward pass
- `substitution.py`, `monomials.py`, `cancellation.py`, `signs.py`: substitution; formulas as
  polynomials; cancellation for positive populations; bounds and signs of formulas
- `anti_unification.py`: one formula for several that differ only in numbers
- `program_builder.py`, `tight_program_builder.py`, `programs.py`, `array_runs.py`,
  `float_runs.py`, `exact_runs.py`: formulas compiled to programs, and their evaluation on arrays,
  floats, bounds and fractions
- `algebraic_functions.py`, `rational_functions.py`, `real_roots.py`, `piecewise.py`: exact algebra
  in one variable, with python-flint
- `linear_roots.py`: symbolic roots of formulas that are linear in the population (`explain`), with
  python-flint
- `sympy_algebra.py`: the only module that uses sympy, for ties that digits cannot decide, and for
  the Python API
- `distributions/`, `forks/`, `queueing/`: distributions of times (gamma, normal, maxima, order
  statistics, sums of stages), of forks (by transforms of their phases), and single queues, with
  only numpy and flint: `*_numbers.py` for single values, `*_arrays.py` for arrays
- `queueing_networks/`: closed networks: of one class, by sums of positive terms or by an integral
  whose cost does not depend on the population (`product_form*`, `normalizing_integral*`); with
  service rates and pools (`load_dependent_*`, `service_rate_tables.py`; many at once in arrays,
  `pool_network_arrays.py`); with parallel calls (`fork_join_*`); of several classes
  (`multiclass_*`, `linearizer.py`), which can share pools and service rates
  (`multiclass_load_dependent_*`, `service_rate_stays.py`)
"""
