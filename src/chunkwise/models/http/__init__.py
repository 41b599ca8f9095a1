"""JSON over HTTP to the endpoints of models: addresses, keys, retries, batches."""
