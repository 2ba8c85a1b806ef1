; Made by `python editors/generators` of grammar/qps.lark: change that instead.

(source_file) @local.scope
[(component) (machine) (network) (func)] @local.scope
(formal . (identifier) @local.definition.parameter)
(_ name: (identifier) @local.definition)
(name . (identifier) @local.reference)
