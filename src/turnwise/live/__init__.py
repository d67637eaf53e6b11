"""Driving a live voice system: scenarios, a clock, transports, and a faithful capture of what happened."""
