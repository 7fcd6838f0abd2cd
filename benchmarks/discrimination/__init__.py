"""Discrimination, calibration and benefit under dependent censoring: how far from the truth, do intervals cover?"""
