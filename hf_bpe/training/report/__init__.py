"""Looking at a training: compression at every size, what merges buy, which tokens came of it."""

from hf_bpe.training.report.report import TRAINING, TrainingReport, report_of

__all__ = ["TRAINING", "TrainingReport", "report_of"]
