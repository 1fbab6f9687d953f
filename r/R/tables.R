# Exact tables with a minimum count.

minimum_count_delta <- function(minimum, epsilon, known = 0, bound = c("minimum-count", "supremum")) {
  delta(minimum_count_curve(minimum, known, match.arg(bound)), epsilon)
}

least_minimum <- function(epsilon, delta, known = 0) {
  found <- .Call(C_least_minimum, one_number(epsilon, "epsilon"), one_number(delta, "delta"), whole(known, "known"))
  if (found == 0) NA_real_ else found
}

check_table <- function(x, ...) UseMethod("check_table")

check_table.default <- function(x, epsilon = c(0.5, 1, 2), known = 0, impossible = c("none", "zeros"), ...) {
  impossible <- match.arg(impossible)
  if (...length() > 0) {
    stop("check_table takes epsilon, known and impossible, and of a data frame count", call. = FALSE)
  }
  exactly(epsilon, "epsilon")
  whole(known, "known")
  counts <- as.vector(unclass(x))
  if (is.factor(x) || !is.numeric(counts) || length(counts) < 2) {
    stop("x must hold the counts of two cells at least", call. = FALSE)
  }
  if (!all(is.finite(counts)) || any(counts < 0) || any(counts != floor(counts))) {
    stop("x must hold whole numbers of at least 0; suppressed cells cannot be checked", call. = FALSE)
  }
  possible <- if (impossible == "zeros") counts[counts > 0] else counts
  if (length(possible) < 2) {
    stop("x has fewer than two cells that may hold a row", call. = FALSE)
  }
  smallest <- min(possible)
  found <- list(smallest = smallest, cells = length(possible), rows = sum(counts), epsilon = epsilon, known = known)
  found$delta <- if (smallest >= 2) minimum_count_delta(smallest, epsilon, known)
  structure(found, class = "table_check")
}

check_table.data.frame <- function(x, count = NULL, ...) {
  if (is.null(count)) {
    count <- intersect(c("Freq", "n", "count", "OBS_VALUE"), names(x))
  }
  if (length(count) != 1 || !(count %in% names(x))) {
    stop("count must name the column of x that holds the counts", call. = FALSE)
  }
  check_table.default(x[[count]], ...)
}

print.table_check <- function(x, ...) {
  cat(x$cells, "cells,", x$rows, "rows; the smallest cell holds", x$smallest, if (x$smallest == 1) "row.\n" else "rows.\n")
  if (is.null(x$delta)) {
    cat("A rule that allows such a cell protects nothing: it shows where a row is.\n")
    return(invisible(x))
  }
  cat("A rule that publishes a table only if every cell holds", x$smallest, "rows has, for every distribution,\n")
  cat(paste0("  at epsilon = ", format(x$epsilon), ": delta ", format(x$delta)), sep = "\n")
  cat("That is about the rule, if it was fixed before the table was seen. The table itself proves no rule.\n")
  invisible(x)
}
