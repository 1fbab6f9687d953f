"""Files that users write and read: compositions, claims, counts and reports."""
