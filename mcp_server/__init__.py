"""ctxfold in a host: an MCP server over the sessions of one store. It decides nothing about a session; it hands what a host says to `Session` and says
back, in few tokens, what came of it.

::

    server      composition: desk, tools, words
    desk        open sessions, one handle and one lock a name
    tools/      one file a tool
    intake      what `record` takes in, as values
    answers     results: the same facts as text and as data, never above 10,000 characters
    errors      the one door from our errors to what a model reads
    prompts/    every word said to a model
    wire, life  stdin and stdout, and when to leave

Nothing is imported here: `ctxfold --help` must not pay for a server it does not start.
"""

__all__: tuple[str, ...] = ()
