"""The studio: a local web application for people who do not program.

It serves one person on one machine: pages that explore curves, write plans, release tables, show the ledger, assess
published tables and check reports. Each number is computed by the library, and each state has an address.

Starlette does the work of a web framework and uvicorn that of a server, because both are small, kept, and pure Python.
The pages are templates; the only script asks for a new result when a form changes.
"""
