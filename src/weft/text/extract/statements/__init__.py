"""Facts, causes and preferences stated by sentences."""
