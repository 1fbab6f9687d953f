"""Rules: from a situation to an expression of the kernel's normal forms, one family of theorems a file."""
