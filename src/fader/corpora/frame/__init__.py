"""What every importer shares: sources cut into batches, records checked, entities joined, runs resumed."""
