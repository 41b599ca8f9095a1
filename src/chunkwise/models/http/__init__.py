"""JSON over HTTP to the endpoints of models: the client (addresses, keys, retries) and batches."""
