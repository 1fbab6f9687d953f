"""Rules: from a situation to an expression in the kernel's normal forms; one family of theorems per file."""
