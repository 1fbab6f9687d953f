"""Claims decided twice, certificates, and the checker that reads them."""
