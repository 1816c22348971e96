#!/usr/bin/env python3
"""An endpoint that Assay did not foresee, as a program: it reads queries from its standard input
and answers them on its standard output, a JSON object a line (docs/formats/plugin.md).

    assay run --endpoint 'program:python3 examples/plugin/endpoint.py' --model m --samples 16

Put your own model, library or protocol in the place of `words`.
"""

import json
import sys
import threading

OUT = threading.Lock()


def say(**line):
    with OUT:
        print(json.dumps(line), flush=True)


def words(request):
    """Your model: the pieces of a reply, one after the other."""
    question = request["messages"][-1]["content"]
    limit = request.get("max_completion_tokens", 16)
    for number, word in enumerate(question.split()[:limit]):
        yield (" " if number else "") + word


def answer(number, request):
    count = 0
    try:
        for piece in words(request):
            count += 1
            say(query=number, text=piece)
    except Exception as error:  # a query that failed is counted and named, and the run goes on
        say(query=number, error=f"{type(error).__name__}: {error}")
        return
    say(query=number, done=True, finish="stop", usage={"completion_tokens": count})


say(ready=True, name="echo")
for line in sys.stdin:
    asked = json.loads(line)
    threading.Thread(target=answer, args=(asked["query"], asked["request"]), daemon=True).start()
