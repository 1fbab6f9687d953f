"""Claims verified by two computations, certificates, and the checker that reads them."""
