from typing import Any

# The names and arguments are the stock module's, which has no types.
def __getattr__(name: str) -> Any: ...
