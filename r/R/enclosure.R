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

lower <- function(x) ends(x)$lower

upper <- function(x) ends(x)$upper

ends <- function(x) {
  if (!inherits(x, "enclosure")) {
    stop("x must be an enclosure, as delta() and its like give", call. = FALSE)
  }
  unclass(x)
}

length.enclosure <- function(x) length(lower(x))

`[.enclosure` <- function(x, i) {
  chosen <- seq_along(lower(x))[i]
  if (anyNA(chosen)) {
    stop("there are ", length(x), " entries, and not all that are asked for", call. = FALSE)
  }
  enclosure(lower(x)[chosen], upper(x)[chosen], attr(x, "safe"))
}

`[[.enclosure` <- function(x, i) {
  if (length(i) != 1) {
    stop("[[ ]] takes one place", call. = FALSE)
  }
  x[i]
}

as.list.enclosure <- function(x, ...) lapply(seq_along(lower(x)), function(k) x[k])

c.enclosure <- function(...) {
  all <- list(...)
  safe <- unique(vapply(all, function(x) attr(x[0], "safe"), ""))
  if (length(safe) != 1) {
    stop("enclosures with different safe ends cannot be joined", call. = FALSE)
  }
  enclosure(unlist(lapply(all, lower)), unlist(lapply(all, upper)), safe)
}

# Which end counts depends on what is to be shown.
Ops.enclosure <- function(e1, e2) {
  stop("an enclosure is two numbers: take upper() or lower() of it, whichever is on the safe side here", call. = FALSE)
}

# The end that is on the safe side: nothing worse is true.
as.double.enclosure <- function(x, ...) if (attr(x, "safe") == "upper") upper(x) else lower(x)

as.data.frame.enclosure <- function(x, ...) data.frame(lower = lower(x), upper = upper(x))

format.enclosure <- function(x, digits = 4, ...) {
  if (length(x) == 0) {
    return(character(0))
  }
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
  text <- function(y) format(y, digits = digits, scientific = abs(x) < 1e-3 || abs(x) >= 1e6, decimal.mark = ".")
  unit <- 10^(floor(log10(abs(x))) + 1 - digits)
  for (step in 0:2) {
    nearby <- text(signif(signif(x, digits) + (if (up) step else -step) * unit, digits))
    value <- as.double(nearby)
    # What reads back as x is x itself only where few digits are all that it has.
    if ((if (up) value > x else value < x) || (value == x && is_written_out(x))) {
      return(nearby)
    }
  }
  format(x, digits = 17, decimal.mark = ".")
}

is_written_out <- function(x) x == floor(x) || nchar(.Call(C_exact_texts, x)) < 16
