"""The interpreting room: live translation of speech, how it takes interruptions and how far it lags behind."""
