"""What is odd about the tokens of a vocabulary, and about the rows that a model has for them."""

from hf_bpe.editing.audit.audit import Audit, AuditedToken, audit
from hf_bpe.editing.audit.model_rows import rows_of_model
from hf_bpe.editing.audit.undertrained import Rows

__all__ = ["Audit", "AuditedToken", "Rows", "audit", "rows_of_model"]
