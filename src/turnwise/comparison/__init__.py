"""Comparison of stored runs: is version B better than version A, may it be released, how did quality go over time?"""
