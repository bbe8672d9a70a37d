"""The room for machines: deliveries in, receipts and reads out; one module for each thing."""
