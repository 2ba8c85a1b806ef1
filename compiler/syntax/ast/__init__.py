"""The syntax tree: what stands in the text, frozen, every node with its span."""

from qps.compiler.syntax.ast.base_node import *
from qps.compiler.syntax.ast.claims import *
from qps.compiler.syntax.ast.expressions import *
from qps.compiler.syntax.ast.hardware import *
from qps.compiler.syntax.ast.incidents import *
from qps.compiler.syntax.ast.matrices import *
from qps.compiler.syntax.ast.module import *
from qps.compiler.syntax.ast.parameters import *
from qps.compiler.syntax.ast.requirements import *
from qps.compiler.syntax.ast.streams import *
