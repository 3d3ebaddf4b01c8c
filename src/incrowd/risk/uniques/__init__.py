"""How many people are alone with their values: counted in the table, estimated in the population it was drawn from.

Every estimator takes the same counts: how many classes of each size the sample has, and the size of the population.
Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, BMC Medical Informatics and
Decision Making 12:66, 2012, compare them; none is good everywhere.
"""
