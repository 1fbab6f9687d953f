# Numbers as the library reads them: a text such as "0.1" or "1/3" is exactly that; a double is the number that it stores.

exactly <- function(x, argument) {
  if (is.character(x) && !anyNA(x)) {
    return(x)
  }
  if (is.numeric(x) && all(is.finite(x))) {
    return(.Call(C_exact_texts, as.double(x)))
  }
  stop(argument, " must be numbers, such as 0.1, or texts, such as \"1/3\"", call. = FALSE)
}

one_number <- function(x, argument) {
  text <- exactly(x, argument)
  if (length(text) != 1) {
    stop(argument, " must be one number; it has ", length(text), call. = FALSE)
  }
  text
}

whole <- function(x, argument) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x != floor(x) || x < 0 || x > 2^53) {
    stop(argument, " must be one whole number from 0 to 2^53", call. = FALSE)
  }
  as.double(x)
}

whole_numbers <- function(x, argument) {
  if (!is.numeric(x) || !all(is.finite(x)) || any(x != floor(x)) || any(abs(x) > 2^53)) {
    stop(argument, " must be whole numbers of size up to 2^53", call. = FALSE)
  }
  as.double(x)
}

probability_or_range <- function(p) {
  texts <- exactly(p, "p")
  if (!length(texts) %in% 1:2) {
    stop("p must be one probability, or the two ends of a range; it has ", length(texts), call. = FALSE)
  }
  texts
}

of_one_length <- function(values, probabilities) {
  if (length(values) != length(probabilities)) {
    stop("values and probabilities must have one length", call. = FALSE)
  }
}
