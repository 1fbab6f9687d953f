# Are the numbers those of Python, to the last bit?

library(statpriv)

answers <- read.delim("doors.tsv", quote = "", colClasses = "character")
stopifnot(nrow(answers) > 80)

curve_of <- function(query, rows, numbers, known) {
  stated <- strsplit(numbers, " ")[[1]]
  switch(query,
    count = , range = count_curve(rows, stated, known),
    histogram = histogram_curve(rows, stated, known),
    sum = {
      pairs <- strsplit(stated, ":")
      sum_curve(rows, as.numeric(vapply(pairs, `[`, "", 1)), vapply(pairs, `[`, "", 2), known)
    },
    table = minimum_count_curve(rows, known),
    supremum = minimum_count_curve(rows, known, "supremum"),
    composition = composition_curve(numbers)
  )
}

for (k in seq_len(nrow(answers))) {
  asked <- answers[k, ]
  curve <- curve_of(asked$query, as.numeric(asked$rows), asked$numbers, as.numeric(asked$known))
  question <- switch(asked$quantity, delta = delta, epsilon = epsilon, beta = type_two_error)
  found <- question(curve, asked$at)
  # R reads numbers in hexadecimal exactly.
  stopifnot(lower(found) == as.numeric(asked$lower), upper(found) == as.numeric(asked$upper))
}

# A composition in R is the one in JSON.
parts <- composition_curve(
  3000,
  part(1000, p = "0.3", attribute = "smokes"),
  part(400, p = "0.3", attribute = "smokes"),
  part(1500, cells = c("0.5", "0.3", "0.2"))
)
json <- Filter(function(text) grepl("smokes", text), answers$numbers)[1]
stopifnot(identical(delta(parts, "0.1"), delta(composition_curve(json), "0.1")))
sums <- composition_curve(90, part(30, values = c(0, 1, 5), probabilities = c("1/2", "1/4", "1/4")), part(40, p = 0.5))
json <- Filter(function(text) grepl("sum", text), answers$numbers)[1]
stopifnot(identical(delta(sums, "0.1"), delta(composition_curve(json), "0.1")))

# A double is the number that it stores.
stopifnot(
  identical(delta(n = 7, p = 0.25, epsilon = 0.5), delta(n = 7, p = "1/4", epsilon = "1/2")),
  identical(statpriv:::exactly(0.1, "p"), "0.1000000000000000055511151231257827021181583404541015625"),
  is.finite(upper(delta(n = 7, p = 0.5, epsilon = 5e-324)))
)

# Laws, beside those of R.
close_to <- function(found, expected) all(abs(upper(found) - expected) <= 1e-12 * expected, lower(found) <= upper(found))
stopifnot(
  close_to(binomial_pmf(0:5, 5, "1/2"), dbinom(0:5, 5, 0.5)),
  close_to(binomial_upper_tail(3, 10, 0.25), pbinom(2, 10, 0.25, lower.tail = FALSE)),
  close_to(binomial_lower_tail(3, 10, 0.25), pbinom(3, 10, 0.25)),
  close_to(hypergeometric_pmf(0:4, 10, 4, 5), dhyper(0:4, 4, 6, 5)),
  close_to(hypergeometric_upper_tail(2, 10, 4, 5), phyper(1, 4, 6, 5, lower.tail = FALSE)),
  upper(binomial_pmf(-1, 5, 0.5)) == 0,
  lower(binomial_upper_tail(-1, 5, 0.5)) == 1,
  close_to(hockey_stick(c(0.5, 0.5), c(0.25, 0.75), 0), 0.25)
)
