"""A comparison as tables, which terminals and model cards show too, and as a page with plots."""
