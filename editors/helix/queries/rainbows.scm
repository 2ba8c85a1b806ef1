; Made by `python editors/generators` of grammar/qps.lark: change that instead.

[
  (at)
  (autoscaler)
  (cache)
  (call_others)
  (call_step)
  (cases)
  (choose)
  (component)
  (expect)
  (figure)
  (incident)
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
  (retrying)
  (scenario)
  (stream)
  (together)
  (topology)
] @rainbow.scope

["{" "}"] @rainbow.bracket
