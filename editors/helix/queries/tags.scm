; Made by `python editors/generators` of grammar/qps.lark: change that instead.

(users name: (identifier) @name) @definition.constant
(option name: (identifier) @name) @definition.constant
(param name: (identifier) @name) @definition.constant
(kinds name: (identifier) @name) @definition.type
(let name: (identifier) @name) @definition.constant
(func name: (identifier) @name) @definition.function
(machine name: (identifier) @name) @definition.class
(machine_member name: (identifier) @name) @definition.class
(network name: (identifier) @name) @definition.class
(network_member name: (identifier) @name) @definition.class
(component name: (identifier) @name) @definition.function
(component_member name: (identifier) @name) @definition.function
(node name: (identifier) @name) @definition.module
(link name: (identifier) @name) @definition.module
(measure name: (identifier) @name) @definition.constant
(stream name: (identifier) @name) @definition.function
(expect name: (identifier) @name) @definition.module
(figure name: (identifier) @name) @definition.module
(incident name: (identifier) @name) @definition.module
(mode name: (identifier) @name) @definition.module
(scenario name: (identifier) @name) @definition.module
(matrix name: (identifier) @name) @definition.module
(choose name: (identifier) @name) @definition.module

(name . (identifier) @name) @reference.class
