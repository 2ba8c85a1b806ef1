; Made by `python editors/making` of grammar/qps.lark: change that instead.

(machine name: (identifier) @name) @definition.class
(machine_member name: (identifier) @name) @definition.class
(network name: (identifier) @name) @definition.class
(network_member name: (identifier) @name) @definition.class
(component name: (identifier) @name) @definition.function
(component_member name: (identifier) @name) @definition.function
(func name: (identifier) @name) @definition.function
(stream name: (identifier) @name) @definition.function
(node name: (identifier) @name) @definition.module
(link name: (identifier) @name) @definition.module
(scenario name: (identifier) @name) @definition.module
(mode name: (identifier) @name) @definition.module
(matrix name: (identifier) @name) @definition.module
(figure name: (identifier) @name) @definition.module
(expect name: (identifier) @name) @definition.module
(param name: (identifier) @name) @definition.constant
(let name: (identifier) @name) @definition.constant
(option name: (identifier) @name) @definition.constant
(users name: (identifier) @name) @definition.constant
(kinds name: (identifier) @name) @definition.type
(measure name: (identifier) @name) @definition.constant

(name . (identifier) @name) @reference.class
