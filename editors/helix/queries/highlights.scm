; Made by `python editors/generators` of grammar/qps.lark: change that instead.

(comment) @comment
(doc_string) @comment.block.documentation
(string) @string
(digits) @constant.numeric
(time_of_day) @constant.numeric
(month_or_day) @constant.numeric
(identifier) @variable

(unit_power (name (identifier) @type))
(rating_unit name: (identifier) @type)
(item_unit name: (identifier) @type)
(derived_unit name: (identifier) @type)
(_ name: (identifier) @type)
(name (identifier) (identifier) @variable.other.member)
(step (name (identifier) @function .))
(call_step (name (identifier) @function .))
(call (name (identifier) @function .))

[
  "active"
  "after"
  "all"
  "and"
  "answer"
  "answers"
  "any"
  "arithmetic"
  "arrivals"
  "as"
  "at"
  "autoscale"
  "between"
  "but"
  "by"
  "cache"
  "calendar"
  "call"
  "cap"
  "certainty"
  "choose"
  "column"
  "component"
  "configuration"
  "configurations"
  "correlation"
  "costs"
  "cv"
  "delay"
  "descending"
  "drop"
  "dropping"
  "duplex"
  "each"
  "edition"
  "eight"
  "elastic"
  "else"
  "emit"
  "empty"
  "event"
  "every"
  "exclude"
  "expect"
  "fail"
  "fails"
  "figure"
  "first"
  "fit"
  "fitted"
  "five"
  "for"
  "forecast"
  "four"
  "func"
  "give"
  "group"
  "header"
  "ideal"
  "if"
  "in"
  "incident"
  "include"
  "jitter"
  "keep"
  "kinds"
  "let"
  "line"
  "link"
  "load"
  "loads"
  "log"
  "lose"
  "loss"
  "machine"
  "matrix"
  "measure"
  "measured"
  "minimize"
  "missed"
  "mode"
  "model"
  "most"
  "network"
  "nine"
  "no"
  "node"
  "not"
  "note"
  "observe"
  "of"
  "on"
  "one"
  "option"
  "or"
  "order"
  "ordered"
  "others"
  "over"
  "pair"
  "param"
  "per"
  "period"
  "playout"
  "price"
  "priority"
  "profile"
  "propagation"
  "quality"
  "queue"
  "queueing"
  "rate"
  "rating"
  "recover"
  "require"
  "retry"
  "returns"
  "room"
  "run"
  "samples"
  "scaled"
  "scenario"
  "select"
  "sends"
  "seven"
  "shared"
  "simulated"
  "single_thread"
  "six"
  "slow"
  "some"
  "source"
  "speeds"
  "stream"
  "surge"
  "survive"
  "switched"
  "take"
  "target"
  "then"
  "think"
  "three"
  "to"
  "together"
  "topology"
  "trace"
  "traffic"
  "two"
  "unit"
  "use"
  "users"
  "values"
  "weight"
  "where"
  "with"
  "within"
  "zone"
  "zones"
] @keyword

(merge) @keyword
(preemptive) @keyword

[
  "average"
  "largest"
  "least"
] @constant.builtin

[
  "*"
  "+"
  "+-"
  "-"
  "->"
  ".."
  "/"
  "="
  "^"
  "~"
] @operator

(comparator) @operator
(sign_of_unit) @type
["(" ")" "{" "}" "[" "]"] @punctuation.bracket
["," "." ":"] @punctuation.delimiter

((call (name . (identifier) @function.builtin .))
  (#any-of? @function.builtin "abs" "acos" "ceil" "clamp" "cos" "erlang_b" "erlang_c" "exp" "floor" "harmonic" "lambert_w" "ln" "log10" "log2" "lower_lambert_w" "max" "md1_quantile" "md1_tail" "min" "normal_quantile" "normal_tail" "periodic_quantile" "periodic_tail" "periodic_wait" "room_loss" "room_wait" "sqrt" "waiting"))

((reference (name . (identifier) @constant.builtin .))
  (#any-of? @constant.builtin "euclidean" "md1" "mdc" "mg1" "mgc" "mm1" "mmc" "multicast" "off" "on" "periodic" "ps" "quota" "unicast" "worst"))
