# Two doubles with the truth between them.

enclosure <- function(lower, upper, safe = c("upper", "lower")) {
  safe <- match.arg(safe)
  if (!is.numeric(lower) || !is.numeric(upper) || length(lower) != length(upper)) {
    stop("lower and upper must be numbers, as many of the one as of the other", call. = FALSE)
  }
  if (anyNA(lower) || anyNA(upper) || any(lower > upper)) {
    stop("lower must be at most upper", call. = FALSE)
  }
  structure(list(lower = as.double(lower), upper = as.double(upper)), safe = safe, class = "enclosure")
}

lower <- function(x) unclass(x)$lower

upper <- function(x) unclass(x)$upper

length.enclosure <- function(x) length(lower(x))

`[.enclosure` <- function(x, i) enclosure(lower(x)[i], upper(x)[i], attr(x, "safe"))

# The end that is on the safe side: nothing worse is true.
as.double.enclosure <- function(x, ...) if (attr(x, "safe") == "upper") upper(x) else lower(x)

as.data.frame.enclosure <- function(x, ...) data.frame(lower = lower(x), upper = upper(x))

format.enclosure <- function(x, digits = 4, ...) {
  up <- attr(x, "safe") == "upper"
  paste(if (up) "at most" else "at least", vapply(as.double(x), rounded_outwards, "", digits = digits, up = up))
}

print.enclosure <- function(x, digits = 4, ...) {
  cat(format(x, digits = digits), sep = "\n")
  invisible(x)
}

# So many significant digits, never on the wrong side of the number.
rounded_outwards <- function(x, digits, up) {
  if (!is.finite(x) || x == 0) {
    return(format(x))
  }
  text <- function(y) format(y, digits = digits, scientific = abs(x) < 1e-3 || abs(x) >= 1e6)
  shown <- signif(x, digits)
  unit <- 10^(floor(log10(abs(x))) + 1 - digits)
  for (step in 0:2) {
    nearby <- signif(shown + (if (up) step else -step) * unit, digits)
    value <- as.double(text(nearby))
    if (if (up) value >= x else value <= x) {
      return(text(nearby))
    }
  }
  format(x, digits = 17)
}
