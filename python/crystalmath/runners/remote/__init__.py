"""What every runner on another host shares: the job's directory there, claims and receipts."""
