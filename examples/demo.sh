#!/bin/sh
# Train, report and predict on the command line: `make demo`.
# A loan that defaults costs 60 % of its amount, one refused although it would have been paid 10 % in interest.
set -eu
cd "$(dirname "$0")/.."
mkdir -p demo

# The last 200 loans are the test data.
head -n 601 examples/loans.csv > demo/past.csv
(head -n 1 examples/loans.csv; tail -n 200 examples/loans.csv) > demo/new.csv

# Print a command, then run it.
run() {
    printf '\n$ %s\n' "$1"
    eval "$1"
}

run 'cssvm train demo/past.csv --target outcome --positive default \
    --fn-cost "0.6*amount" --fp-cost "0.1*amount" --currency EUR \
    --out demo/loans.skops'
run 'cssvm report demo/loans.skops demo/new.csv \
    --title "Loans: whom to refuse" --out demo/report.html'
run 'cssvm predict demo/loans.skops demo/new.csv \
    --keep amount --out demo/decisions.csv'

printf '\nThe report is in demo/report.html: open it in a browser.\n'
printf 'The decisions are in demo/decisions.csv, the model is in demo/loans.skops.\n'
