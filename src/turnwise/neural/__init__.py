"""What neural metrics share: their weights, their device, and embeddings kept for later runs."""
