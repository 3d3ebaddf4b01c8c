"""scikit-learn faces of the release methods, one for each method of the catalog."""

from incrowd.estimators.blending import Blend
from incrowd.estimators.mutual_information import IACc, IACk
from incrowd.estimators.partitioning import InfoGainMondrian, Mondrian
from incrowd.estimators.top_down_refinement import TDR, TDS
from incrowd.estimators.tree_suppression import KActus, KActusPlus

__all__ = ["TDR", "TDS", "Blend", "IACc", "IACk", "InfoGainMondrian", "KActus", "KActusPlus", "Mondrian"]
