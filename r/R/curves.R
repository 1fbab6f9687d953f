# What is published, and how private that is: delta for every epsilon.

curve_of <- function(pointer, description) {
  structure(list(pointer = pointer, description = description), class = "privacy_curve")
}

print.privacy_curve <- function(x, ...) {
  cat("<privacy curve: ", x$description, ">\n", sep = "")
  invisible(x)
}

count_curve <- function(n, p, known = 0) {
  stated <- probability_or_range(p)
  pointer <- if (length(stated) == 1) {
    .Call(C_count, whole(n, "n"), stated, whole(known, "known"))
  } else {
    .Call(C_count_in_range, whole(n, "n"), stated[1], stated[2], whole(known, "known"))
  }
  curve_of(pointer, paste0("an exact count of ", n, " rows, p = ", paste(p, collapse = " to ")))
}

histogram_curve <- function(n, cells, known = 0) {
  pointer <- .Call(C_histogram, whole(n, "n"), exactly(cells, "cells"), whole(known, "known"))
  curve_of(pointer, paste0("an exact histogram of ", n, " rows, ", length(cells), " cells"))
}

sum_curve <- function(n, values, probabilities, known = 0) {
  of_one_length(values, probabilities)
  pointer <- .Call(
    C_sum, whole(n, "n"), whole_numbers(values, "values"), exactly(probabilities, "probabilities"), whole(known, "known")
  )
  curve_of(pointer, paste0("an exact sum of ", n, " rows, ", length(values), " values"))
}

minimum_count_curve <- function(minimum, known = 0, bound = c("minimum-count", "supremum")) {
  bound <- match.arg(bound)
  door <- if (bound == "supremum") C_table_supremum else C_table
  pointer <- .Call(door, whole(minimum, "minimum"), whole(known, "known"))
  curve_of(pointer, paste0("an exact table, every cell of at least ", minimum, " rows"))
}

part <- function(size, p = NULL, cells = NULL, values = NULL, probabilities = NULL, attribute = "") {
  stated <- c(!is.null(p), !is.null(cells), !is.null(values))
  if (sum(stated) != 1 || is.null(values) != is.null(probabilities)) {
    stop("a part states one of p, cells, and values with probabilities", call. = FALSE)
  }
  of_one_length(values, probabilities)
  if (!is.character(attribute) || length(attribute) != 1 || is.na(attribute)) {
    stop("attribute must be one text", call. = FALSE)
  }
  asked <- if (!is.null(p)) {
    texts <- probability_or_range(p)
    paste0("\"probability\": ", if (length(texts) == 1) quoted(texts) else json_list(quoted(texts)))
  } else if (!is.null(cells)) {
    paste0("\"cells\": ", json_list(quoted(exactly(cells, "cells"))))
  } else {
    pairs <- paste0("[", format(whole_numbers(values, "values"), scientific = FALSE, trim = TRUE), ", ",
                    quoted(exactly(probabilities, "probabilities")), "]")
    paste0("\"query\": {\"kind\": \"sum\", \"values\": ", json_list(pairs), "}")
  }
  size <- format(whole(size, "size"), scientific = FALSE)
  structure(paste0("{\"size\": ", size, ", ", asked, ", \"attribute\": ", quoted(attribute), "}"), class = "statpriv_part")
}

composition_curve <- function(population, ...) {
  parts <- list(...)
  if (is.character(population) && length(population) == 1 && length(parts) == 0) {
    json <- enc2utf8(population)
  } else {
    if (!all(vapply(parts, inherits, NA, "statpriv_part"))) {
      stop("every part must be made by part()", call. = FALSE)
    }
    n <- format(whole(population, "population"), scientific = FALSE)
    json <- paste0("{\"population\": ", n, ", \"part\": ", json_list(unlist(parts)), "}")
  }
  curve_of(.Call(C_composition, json), "answers on the parts of a secret partition")
}

json_list <- function(texts) paste0("[", paste(texts, collapse = ", "), "]")

# Texts of JSON, of ASCII alone.
quoted <- function(texts) {
  escaped <- function(code) {
    if (code > 0xFFFF) {
      pair <- code - 0x10000
      return(sprintf("\\u%04x\\u%04x", 0xD800 + pair %/% 0x400, 0xDC00 + pair %% 0x400))
    }
    if (code < 32 || code > 126 || code %in% c(34, 92)) sprintf("\\u%04x", code) else intToUtf8(code)
  }
  vapply(texts, function(text) {
    paste0("\"", paste(vapply(utf8ToInt(enc2utf8(text)), escaped, ""), collapse = ""), "\"")
  }, "", USE.NAMES = FALSE)
}

# --- what a curve is asked

delta <- function(curve = count_curve(n, p, known), epsilon, n, p, known = 0) {
  one_situation(!missing(curve), c(!missing(n), !missing(p), !missing(known)))
  asked(curve, C_delta, exactly(epsilon, "epsilon"), "upper")
}

epsilon <- function(curve = count_curve(n, p, known), delta, n, p, known = 0) {
  one_situation(!missing(curve), c(!missing(n), !missing(p), !missing(known)))
  asked(curve, C_epsilon, exactly(delta, "delta"), "upper")
}

type_two_error <- function(curve = count_curve(n, p, known), alpha, n, p, known = 0) {
  one_situation(!missing(curve), c(!missing(n), !missing(p), !missing(known)))
  asked(curve, C_beta, exactly(alpha, "alpha"), "lower")
}

one_situation <- function(curve, stated) {
  if (curve && any(stated)) {
    stop("state either a curve, or n, p and known: those of a curve are stated where it is made", call. = FALSE)
  }
}

asked <- function(curve, door, at, safe) {
  if (!inherits(curve, "privacy_curve")) {
    stop("curve must be a privacy curve, as count_curve() and its like give", call. = FALSE)
  }
  ends <- .Call(door, unclass(curve)$pointer, at)
  if (is.null(ends)) {
    interrupt <- structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL))
    signalCondition(interrupt)
    invokeRestart("abort")
  }
  enclosure(ends[[1]], ends[[2]], safe)
}
