"""What is odd about the tokens of a vocabulary, and about the rows that a model has for them."""

from hf_bpe.editing.audit.audit import Audit, AuditedToken, LookedAt, audit
from hf_bpe.editing.audit.model_rows import rows_of_model
from hf_bpe.editing.audit.undertrained import Rows, checked_untrained

__all__ = ["Audit", "AuditedToken", "LookedAt", "Rows", "audit", "checked_untrained", "rows_of_model"]
