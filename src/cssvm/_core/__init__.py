"""What every part shares: costs, samples, the positive class, folds, decisions."""
