/* From R to the C library: conversions, and nothing else. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>

#include "statpriv.h"

static void check(statpriv_status status) {
  if (status != STATPRIV_STATUS_OK) Rf_error("%s", statpriv_last_error());
}

/* --- numbers */

static uint64_t whole(SEXP x) { return (uint64_t)Rf_asReal(x); }

static const char *text(SEXP x) { return Rf_translateCharUTF8(STRING_ELT(x, 0)); }

static const char **texts(SEXP x) {
  R_xlen_t number = XLENGTH(x);
  const char **all = (const char **)R_alloc(number > 0 ? number : 1, sizeof(char *));
  for (R_xlen_t k = 0; k < number; ++k) all[k] = Rf_translateCharUTF8(STRING_ELT(x, k));
  return all;
}

/* Every double has at most 767 significant digits. */
static SEXP exact_texts(SEXP numbers) {
  SEXP found = PROTECT(Rf_allocVector(STRSXP, XLENGTH(numbers)));
  char digits[800];
  for (R_xlen_t k = 0; k < XLENGTH(numbers); ++k) {
    snprintf(digits, sizeof digits, "%.767g", REAL(numbers)[k]);
    SET_STRING_ELT(found, k, Rf_mkChar(digits));
  }
  UNPROTECT(1);
  return found;
}

static SEXP ends(statpriv_enclosure found) {
  SEXP both = PROTECT(Rf_allocVector(REALSXP, 2));
  REAL(both)[0] = found.lower;
  REAL(both)[1] = found.upper;
  UNPROTECT(1);
  return both;
}

/* --- curves */

static void asks_for_interrupts(void *nothing) {
  (void)nothing;
  R_CheckUserInterrupt();
}

static int interrupted(void *nothing) {
  (void)nothing;
  return !R_ToplevelExec(asks_for_interrupts, NULL);
}

static void freed(SEXP pointer) {
  statpriv_curve_free((statpriv_curve *)R_ExternalPtrAddr(pointer));
  R_ClearExternalPtr(pointer);
}

static SEXP mark(void) { return Rf_install("statpriv_curve"); }

/* A curve that Ctrl-C ends. */
static SEXP kept(statpriv_curve *made) {
  statpriv_curve *watched = NULL;
  statpriv_status status = statpriv_ended_by(made, interrupted, NULL, &watched);
  statpriv_curve_free(made);
  check(status);
  SEXP pointer = PROTECT(R_MakeExternalPtr(watched, mark(), R_NilValue));
  R_RegisterCFinalizerEx(pointer, freed, TRUE);
  UNPROTECT(1);
  return pointer;
}

static const statpriv_curve *curve_of(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrTag(pointer) != mark()) Rf_error("this is no curve of statpriv");
  const statpriv_curve *curve = (const statpriv_curve *)R_ExternalPtrAddr(pointer);
  if (curve == NULL) Rf_error("this curve is of an earlier session: make it again");
  return curve;
}

static SEXP count(SEXP rows, SEXP p, SEXP known) {
  statpriv_curve *made = NULL;
  check(statpriv_count(whole(rows), text(p), whole(known), &made));
  return kept(made);
}

static SEXP count_in_range(SEXP rows, SEXP lower, SEXP upper, SEXP known) {
  statpriv_curve *made = NULL;
  check(statpriv_count_in_range(whole(rows), text(lower), text(upper), whole(known), &made));
  return kept(made);
}

static SEXP histogram(SEXP rows, SEXP cells, SEXP known) {
  statpriv_curve *made = NULL;
  check(statpriv_histogram(whole(rows), texts(cells), (size_t)XLENGTH(cells), whole(known), &made));
  return kept(made);
}

static SEXP sum(SEXP rows, SEXP values, SEXP probabilities, SEXP known) {
  size_t number = (size_t)XLENGTH(values);
  int64_t *stated = (int64_t *)R_alloc(number > 0 ? number : 1, sizeof(int64_t));
  for (size_t k = 0; k < number; ++k) stated[k] = (int64_t)REAL(values)[k];
  statpriv_curve *made = NULL;
  check(statpriv_sum(whole(rows), stated, texts(probabilities), number, whole(known), &made));
  return kept(made);
}

static SEXP table(SEXP minimum, SEXP known) {
  statpriv_curve *made = NULL;
  check(statpriv_table(whole(minimum), whole(known), &made));
  return kept(made);
}

static SEXP table_supremum(SEXP minimum, SEXP known) {
  statpriv_curve *made = NULL;
  check(statpriv_table_supremum(whole(minimum), whole(known), &made));
  return kept(made);
}

static SEXP composition(SEXP json) {
  statpriv_curve *made = NULL;
  check(statpriv_composition(text(json), &made));
  return kept(made);
}

typedef statpriv_status (*question)(const statpriv_curve *, const char *, statpriv_enclosure *);

static SEXP answers(question ask, SEXP curve, SEXP at) {
  R_xlen_t number = XLENGTH(at);
  SEXP found = PROTECT(Rf_allocVector(VECSXP, 2));
  SEXP lower = Rf_allocVector(REALSXP, number);
  SET_VECTOR_ELT(found, 0, lower);
  SEXP upper = Rf_allocVector(REALSXP, number);
  SET_VECTOR_ELT(found, 1, upper);
  for (R_xlen_t k = 0; k < number; ++k) {
    statpriv_enclosure answer;
    statpriv_status status = ask(curve_of(curve), Rf_translateCharUTF8(STRING_ELT(at, k)), &answer);
    if (status == STATPRIV_STATUS_INTERRUPTED) {
      UNPROTECT(1);
      return R_NilValue; /* R makes an interrupt of it */
    }
    check(status);
    REAL(lower)[k] = answer.lower;
    REAL(upper)[k] = answer.upper;
  }
  UNPROTECT(1);
  return found;
}

static SEXP delta(SEXP curve, SEXP at) { return answers(statpriv_delta, curve, at); }
static SEXP epsilon(SEXP curve, SEXP at) { return answers(statpriv_epsilon, curve, at); }
static SEXP beta(SEXP curve, SEXP at) { return answers(statpriv_beta, curve, at); }

static SEXP least_minimum(SEXP epsilon_text, SEXP delta_text, SEXP known) {
  uint64_t minimum = 0;
  check(statpriv_least_minimum(text(epsilon_text), text(delta_text), whole(known), &minimum));
  return Rf_ScalarReal((double)minimum);
}

/* --- laws: a k below 0 has probability 0, and every number is at least it */

typedef statpriv_status (*of_binomial)(uint64_t, uint64_t, const char *, statpriv_enclosure *);
typedef statpriv_status (*of_hypergeometric)(uint64_t, uint64_t, uint64_t, uint64_t, statpriv_enclosure *);

static SEXP binomial(of_binomial ask, SEXP k, SEXP n, SEXP p, double below) {
  statpriv_enclosure found;
  check(ask(Rf_asReal(k) >= 0 ? whole(k) : 0, whole(n), text(p), &found));
  if (Rf_asReal(k) < 0) found.lower = found.upper = below;
  return ends(found);
}

static SEXP hypergeometric(of_hypergeometric ask, SEXP k, SEXP population, SEXP marked, SEXP draws, double below) {
  statpriv_enclosure found;
  check(ask(Rf_asReal(k) >= 0 ? whole(k) : 0, whole(population), whole(marked), whole(draws), &found));
  if (Rf_asReal(k) < 0) found.lower = found.upper = below;
  return ends(found);
}

static SEXP binomial_pmf(SEXP k, SEXP n, SEXP p) { return binomial(statpriv_binomial_pmf, k, n, p, 0); }
static SEXP binomial_upper_tail(SEXP k, SEXP n, SEXP p) { return binomial(statpriv_binomial_upper_tail, k, n, p, 1); }
static SEXP binomial_lower_tail(SEXP k, SEXP n, SEXP p) { return binomial(statpriv_binomial_lower_tail, k, n, p, 0); }

static SEXP hypergeometric_pmf(SEXP k, SEXP population, SEXP marked, SEXP draws) {
  return hypergeometric(statpriv_hypergeometric_pmf, k, population, marked, draws, 0);
}

static SEXP hypergeometric_upper_tail(SEXP k, SEXP population, SEXP marked, SEXP draws) {
  return hypergeometric(statpriv_hypergeometric_upper_tail, k, population, marked, draws, 1);
}

static SEXP hockey_stick(SEXP p, SEXP q, SEXP at) {
  statpriv_enclosure found;
  check(statpriv_hockey_stick(REAL(p), REAL(q), (size_t)XLENGTH(p), text(at), &found));
  return ends(found);
}

#define DOOR(name, arguments) {#name, (DL_FUNC)&name, arguments}

static const R_CallMethodDef doors[] = {
    DOOR(exact_texts, 1),         DOOR(count, 3),
    DOOR(count_in_range, 4),      DOOR(histogram, 3),
    DOOR(sum, 4),                 DOOR(table, 2),
    DOOR(table_supremum, 2),      DOOR(composition, 1),
    DOOR(delta, 2),               DOOR(epsilon, 2),
    DOOR(beta, 2),                DOOR(least_minimum, 3),
    DOOR(binomial_pmf, 3),        DOOR(binomial_upper_tail, 3),
    DOOR(binomial_lower_tail, 3), DOOR(hypergeometric_pmf, 4),
    DOOR(hypergeometric_upper_tail, 4), DOOR(hockey_stick, 3),
    {NULL, NULL, 0},
};

void R_init_statpriv(DllInfo *library) {
  if (statpriv_abi_version() != STATPRIV_ABI_VERSION) {
    Rf_error("the library statpriv has version %u of its interface; this package was compiled for %u",
             (unsigned)statpriv_abi_version(), (unsigned)STATPRIV_ABI_VERSION);
  }
  R_registerRoutines(library, NULL, doors, NULL, NULL);
  R_useDynamicSymbols(library, FALSE);
}
