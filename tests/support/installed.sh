#!/bin/sh
# Install a wheel in new environments: alone, with all extras, with Spark. Each must make a release and verify it; with all
# extras the tutorial is followed to the letter.
#   sh tests/support/installed.sh WHEEL PYTHON
set -eu
wheel=$1 python=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for extras in "" "[all]" "[spark]"; do
  "$python" -m venv "$folder/env"
  "$folder/env/bin/pip" install --quiet --constraint constraints.txt "$wheel$extras"
  "$folder/env/bin/pip" check
  "$folder/env/bin/incrowd" demo --rows 2000 --folder "$folder/demo" > "$folder/said.txt"
  tail -n 1 "$folder/said.txt"
  has=$("$folder/env/bin/pip" list --format freeze)
  case $extras in
    "") case $has in *scikit-learn* | *pyspark*) echo "too much is installed" >&2; exit 1 ;; esac ;;
    "[all]") case $has in *pyspark*) echo "Spark is in [all]" >&2; exit 1 ;; esac
      "$python" tests/support/follow_page.py docs/tutorial.md "$folder/env/bin" > "$folder/said.txt"
      tail -n 1 "$folder/said.txt" ;;
    *) (cd "$folder/demo" && "$folder/env/bin/python" -c \
         'import polars; polars.read_csv("patients.csv", try_parse_dates=True).write_parquet("patients.parquet")' && \
         "$folder/env/bin/incrowd" release patients.parquet --quasi-identifiers age,sex --target readmitted \
         --identifiers patient_id --drop ward,admission_date,occupation,country_of_birth --class-sensitive no -k 50 \
         --engine spark --to spark.parquet) ;;
  esac
  rm -rf "$folder/env" "$folder/demo"
done
