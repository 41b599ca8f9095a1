"""Models on this machine: ONNX files with their tokenizers."""
