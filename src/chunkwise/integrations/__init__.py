"""What the adapters to other frameworks share; each of these is a module of its own, as `chunkwise.langchain`."""
