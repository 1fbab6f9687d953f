# Certified probabilities of single numbers, and the distance of two laws.

of_law <- function(door, k, ...) {
  ends <- vapply(whole_numbers(k, "k"), function(each) .Call(door, each, ...), double(2))
  enclosure(ends[1, ], ends[2, ])
}

binomial_pmf <- function(k, n, p) of_law(C_binomial_pmf, k, whole(n, "n"), one_number(p, "p"))

binomial_upper_tail <- function(k, n, p) of_law(C_binomial_upper_tail, k, whole(n, "n"), one_number(p, "p"))

binomial_lower_tail <- function(k, n, p) of_law(C_binomial_lower_tail, k, whole(n, "n"), one_number(p, "p"))

hypergeometric_pmf <- function(k, population, marked, draws) {
  of_law(C_hypergeometric_pmf, k, whole(population, "population"), whole(marked, "marked"), whole(draws, "draws"))
}

hypergeometric_upper_tail <- function(k, population, marked, draws) {
  of_law(C_hypergeometric_upper_tail, k, whole(population, "population"), whole(marked, "marked"), whole(draws, "draws"))
}

hockey_stick <- function(p, q, epsilon) {
  if (!is.numeric(p) || !is.numeric(q) || length(p) != length(q)) {
    stop("p and q must be the probabilities of the same answers", call. = FALSE)
  }
  ends <- .Call(C_hockey_stick, as.double(p), as.double(q), one_number(epsilon, "epsilon"))
  enclosure(ends[1], ends[2])
}
