"""Our learners with Weka's defaults, which the papers used, and Weka's own."""

J48 = "c45(raising=True)"
LOGISTIC = "logistic(C=50000000.0, missing='mode')"
WEKA = {
    "c45": "weka-j48",
    J48: "weka-j48",
    "part": "weka-part",
    "nb": "weka-nb",
    "logistic": "weka-logistic",
    LOGISTIC: "weka-logistic",
}
