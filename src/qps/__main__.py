"""`python -m qps`."""

from qps.cli import main

raise SystemExit(main())
