"""Features of editors while a spec is written: the language server behind `qps lsp`.

`language_server` speaks with the editor and computes nothing. What has to be known of a text is
found by processes of its own (`background_process`, `worker_loop`), which can be stopped: one that
answers while somebody types, one that solves. Each feature is a module with a function of the
`OpenDocuments` and of a request of the protocol; `features` lists them.
"""
