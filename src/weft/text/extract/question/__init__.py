"""Reading a question: its intent, references, other wordings, small talk."""
