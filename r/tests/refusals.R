# Is what is not allowed a sentence, and does a table show what it is worth?

library(statpriv)

refused <- function(call, sentence) {
  told <- tryCatch({
    force(call)
    "nothing"
  }, error = conditionMessage)
  if (!grepl(sentence, told, fixed = TRUE)) stop("told: ", told, "; expected: ", sentence)
}

refused(count_curve(10, 1.5), "p = 3/2; a probability from 0 to 1 is required")
refused(count_curve(10, "many"), "p = \"many\" is not a number such as 0.1, 1e-6 or 1/2")
refused(count_curve(10, c(0.6, 0.4)), "the lower end of a range must be at most the upper one")
refused(count_curve(10, c(0.1, 0.2, 0.3)), "p must be one probability, or the two ends of a range; it has 3")
refused(count_curve(10, NA), "p must be numbers")
refused(count_curve(-1, 0.5), "n must be one whole number")
refused(count_curve(10, 0.5, known = 10), "known = 10 of 10 rows")
refused(histogram_curve(10, c("0.5", "0.6")), "cells sum to 11/10; exactly one is required")
refused(sum_curve(10, 1:2, "1"), "values and probabilities must have one length")
refused(minimum_count_curve(1), "minimum = 1; a whole number from 2 to 2^52 is required")
refused(part(10), "a part states one of p, cells, and values with probabilities")
refused(composition_curve(10, part(20, p = 0.5)), "the parts have 20 rows, and there are 10")
refused(composition_curve("{"), "json: EOF")
refused(delta(0.1), "curve must be a privacy curve")
refused(delta(n = 10, p = 0.5, epsilon = "x"), "epsilon = \"x\" is not a number")
refused(epsilon(n = 10, p = 0.5, delta = -1), "delta = -1; a number of at least 0 is required")
refused(hockey_stick(1, c(0.5, 0.5), 0), "p and q must be the probabilities of the same answers")
refused(enclosure(2, 1), "lower must be at most upper")
refused(check_table(c(3, NA)), "x must hold whole numbers of at least 0; suppressed cells cannot be checked")
refused(check_table(data.frame(a = 1:2)), "count must name the column of x that holds the counts")

refused(part(10, values = 0:2, probabilities = "1/3"), "values and probabilities must have one length")
refused(part(10, p = 0.5, attribute = c("a", "b")), "attribute must be one text")
refused(part(10, p = c(0.1, 0.2, 0.3)), "p must be one probability, or the two ends of a range; it has 3")
refused(composition_curve(100, 5), "every part must be made by part()")
refused(delta(count_curve(100, 0.5), 0.1, known = 50), "state either a curve, or n, p and known")
refused(check_table(factor(c("12", "13"))), "x must hold the counts of two cells at least")
refused(check_table(data.frame(n = factor(c("12", "13")))), "x must hold the counts of two cells at least")
refused(check_table(c(12, 13), impossibel = "zeros"), "check_table takes epsilon, known and impossible")
refused(check_table(c(5, Inf)), "x must hold whole numbers")
refused(binomial_pmf(-1, 5, "abc"), "is not a number such as 0.1")
refused(least_minimum(1, 0), "delta = 0; a number above 0 and at most 1 is required")
refused(lower(3), "x must be an enclosure")
refused(delta(n = 10, p = 0.5, epsilon = 0:1) < 1, "take upper() or lower() of it")
refused(delta(n = 10, p = 0.5, epsilon = 0:1)[3], "there are 2 entries")

broken <- count_curve(10, 0.5)
broken$pointer <- 5
refused(delta(broken, 0.1), "this is no curve of statpriv")

# An attribute is any text.
odd <- paste0("a\vb\"\\", intToUtf8(c(0x1F600, 0xE9)))
stopifnot(inherits(composition_curve(100, part(10, p = 0.5, attribute = odd)), "privacy_curve"))

restored <- unserialize(serialize(count_curve(10, 0.5), NULL))
refused(delta(restored, 0), "this curve is of an earlier session: make it again")

# Enclosures print the safe end, never on the wrong side of it.
found <- delta(n = 1024, p = "1/2", epsilon = c(0.05, 0.1))
stopifnot(
  identical(format(found), c("at most 0.007709", "at most 0.001535")),
  identical(format(found[2]), "at most 0.001535"),
  length(found) == 2,
  identical(as.double(found), upper(found)),
  identical(names(as.data.frame(found)), c("lower", "upper")),
  identical(format(type_two_error(n = 1024, p = "1/2", alpha = 0.05)), "at least 0.9432"),
  identical(format(enclosure(0, Inf)), "at most Inf"),
  identical(format(enclosure(1e-300, 1.00001e-300)), "at most 1.001e-300")
)
two <- delta(n = 1024, p = "1/2", epsilon = c(0.05, 0.1))
stopifnot(
  identical(c(two[1], two[[2]]), two),
  identical(vapply(two, function(one) upper(one), 0), upper(two)),
  identical(format(delta(n = 10, p = 0.5, epsilon = numeric(0))), character(0)),
  identical(format(binomial_pmf(1, 1, 0.5)), "at most 0.5"),
  # The double 0.1 is above one tenth.
  identical(format(enclosure(0.1, 0.1)), "at most 0.1001")
)
old <- options(OutDec = ",")
stopifnot(identical(format(two[2]), "at most 0.001535"))
options(old)

for (x in c(runif(200), 10^runif(200, -20, 20), 1, 0.1, 1000)) {
  shown <- function(x, side) as.double(sub("at (most|least) ", "", format(enclosure(x, x, side))))
  stopifnot(shown(x, "upper") >= x, shown(x, "lower") <= x, shown(x, "upper") <= x * 1.0011)
}

# Tables.
told <- check_table(c(north = 12, south = 30))
stopifnot(
  told$smallest == 12, told$rows == 42,
  identical(told$delta, minimum_count_delta(12, c(0.5, 1, 2))),
  is.null(check_table(c(12, 0))$delta),
  check_table(c(12, 0, 14), impossible = "zeros")$smallest == 12,
  identical(check_table(as.data.frame(HairEyeColor))$smallest, min(HairEyeColor)),
  least_minimum(1, "1e-5") == 30,
  least_minimum(1, "1e-5", known = 5) == 34,
  least_minimum("1e-5", "1e-9") == 187544801105
)
stopifnot(any(grepl("protects nothing", capture.output(print(check_table(c(12, 1)))))))
