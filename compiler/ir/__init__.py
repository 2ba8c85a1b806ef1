"""The checked model: no open names, no units, exact numbers in base units.

Every expression has been given a dimension, every name is bound, every import followed.
Options, machines and networks are still open: `compiler.configure` settles them, and
`compiler.lower` lowers what results. Numbers are in s, bit, $ and single items.
"""

from qps.compiler.ir.changes import *
from qps.compiler.ir.claims import *
from qps.compiler.ir.correlations import *
from qps.compiler.ir.design_choices import *
from qps.compiler.ir.distributions import *
from qps.compiler.ir.effects import *
from qps.compiler.ir.expressions import *
from qps.compiler.ir.figures import *
from qps.compiler.ir.forecasts import *
from qps.compiler.ir.hardware import *
from qps.compiler.ir.incidents import *
from qps.compiler.ir.matrices import *
from qps.compiler.ir.measure_kinds import *
from qps.compiler.ir.measured_values import *
from qps.compiler.ir.model import *
from qps.compiler.ir.parameters import *
from qps.compiler.ir.profiles import *
from qps.compiler.ir.requirements import *
from qps.compiler.ir.stated_queueing import *
from qps.compiler.ir.streams import *
from qps.compiler.ir.waiting import *
from qps.compiler.quantities.disciplines import *
