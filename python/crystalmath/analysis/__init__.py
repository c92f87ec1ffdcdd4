"""What calculations say: fits, paths, spectra, phonons, elastic constants, plots.

Functions of arrays and structures: no files, no daemon, no job. They run in worker processes and
in scripts. What cannot give an honest result is refused by an exception below
``errors.AnalysisRefused``; what is doubtful is said in the flags of the result.

Importing this package is cheap; numpy and the libraries are loaded by its modules.
"""
