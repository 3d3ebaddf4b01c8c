"""The commands in the order of the help, under its titles, each with what the help says of it first.

The help of the program is written from this alone: the commands are not imported for it. A test compares the two.
"""

PANELS = {
    "In the browser": {
        "desk": "Open the desk: choose data, decide, release and verify in the browser, on this machine only.",
    },
    "Look first": {
        "demo": "Make a table of patients, release it, verify it again, and show what was kept.",
        "inspect": "Show what each column seems to be, and why; draft a recipe.",
        "risk": "Measure the risk of any table: re-identification, uniques, Safe Harbor, the three risks of WP216.",
        "compare": "Compare methods by what classifiers learn from their releases, and say which to use.",
    },
    "Publish": {
        "release": "Release a table: every combination of quasi-identifier values is shared by at least k rows.",
        "model": "Publish a decision tree instead of a table: whoever knows the public attributes cannot tell k people "
        "apart.",
        "hide": "Withhold cells, and as few others as needed, so that the rest of the table does not give them away.",
    },
    "Check": {
        "verify": "Check a release against its certificate, or recount any table or model.",
        "attack": "Attack a release and say how far that goes. Exit status 0: no leak found, 1: a leak, 2: nothing "
        "could be run.",
        "explain": "Say in sentences what a plan does. The plan is private; so is what this prints.",
    },
    "Use a release": {
        "transform": "Show new rows as a plan shows rows like them, for instance to test a classifier on them.",
        "decode": "Make a plain table of a release: one value a cell, for any program.",
    },
    "Keep beside it": {
        "hierarchy": "Draft, check and show hierarchies: the groups that values may be shown as.",
        "keys": "Make and show the keys that sign certificates, and sign with them.",
        "ledger": "The private book of releases: list, check and keep it.",
    },
    "What there is": {
        "methods": "List the release methods: incrowd's own, and those of packages that are installed beside it.",
        "presets": "List the presets of a release, or show one: a recipe fragment, which your own options overrule.",
        "learners": "List the learners that compare can train. Any scikit-learn classifier can be named, too.",
        "datasets": "List the data sets that compare takes by name in place of a file, and where each would come from.",
        "recipe-schema": "Print the JSON Schema of recipes: save it as recipe.schema.json beside them, and editors "
        "complete them.",
    },
}
