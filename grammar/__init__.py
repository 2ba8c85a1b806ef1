"""The grammar of QPS and its parser.

This package knows no other: `qps.compiler` turns its trees and its exceptions into
syntax nodes and diagnostics.
"""
