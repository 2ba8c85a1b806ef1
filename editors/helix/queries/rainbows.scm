; Made by `python editors/generators` of grammar/qps.lark: change that instead.

[
  (at)
  (call_others)
  (call_step)
  (cases)
  (component)
  (expect)
  (figure)
  (kind_param)
  (kinds)
  (machine)
  (matrix)
  (mode)
  (network)
  (observed_runs)
  (one_of_steps)
  (pair_param)
  (profile_hours)
  (require)
  (scenario)
  (stream)
  (together)
  (topology)
] @rainbow.scope

["{" "}"] @rainbow.bracket
