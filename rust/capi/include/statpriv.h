/* statpriv: how private are exact answers, against a reader who knows the distribution of the data but not the rows?

   Every number is two doubles with the truth between them. A function returns a status and writes its result through
   its last pointers; what they point to is unchanged unless the status is STATPRIV_STATUS_OK. Numbers are texts, so that
   "0.1" is one tenth and "1/3" one third. Functions may be called from any thread, also on one curve. */

#ifndef STATPRIV_H
#define STATPRIV_H

/* Made from rust/capi/src by cbindgen: `make header`. */

#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface. It changes if a program that was compiled for an older one would no longer work.
 */
#define STATPRIV_ABI_VERSION 1

/**
 * What a call returns.
 */
typedef enum {
  /**
   * The result is there.
   */
  STATPRIV_STATUS_OK = 0,
  /**
   * An argument has a value that is not allowed; `statpriv_last_error` names it and what is allowed.
   */
  STATPRIV_STATUS_ARGUMENT = 1,
  /**
   * The result cannot be enclosed within the limits of this version.
   */
  STATPRIV_STATUS_PRECISION = 2,
  /**
   * The function given to `statpriv_ended_by` ended the work.
   */
  STATPRIV_STATUS_INTERRUPTED = 3,
  /**
   * A defect of this library.
   */
  STATPRIV_STATUS_DEFECT = 4,
} statpriv_status;

/**
 * How private an answer is: δ for every ε. Made and freed by this library, and never changed, so that threads may share it.
 */
typedef struct statpriv_curve statpriv_curve;

/**
 * Two doubles with the truth between them.
 */
typedef struct {
  /**
   * At most the truth.
   */
  double lower;
  /**
   * At least the truth: the safe end of δ and of ε.
   */
  double upper;
} statpriv_enclosure;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface of the library that is loaded, to be compared with STATPRIV_ABI_VERSION.
 */
uint32_t statpriv_abi_version(void);

/**
 * The version of the library, such as "0.1.0". It is never freed.
 */
const char *statpriv_version(void);

/**
 * What went wrong in the last call on this thread whose status was not OK, as one sentence in UTF-8; an empty text before that. It is
 * valid until the next call on this thread, and is not to be freed.
 */
const char *statpriv_last_error(void);

/**
 * The exact count of a property that each of so many independent rows has with probability p.
 *
 * The reader knows `known` of the other rows. p is a number from 0 to 1, such as "0.3" or "1/3".
 *
 * Required:
 * `p` ends with a NUL; `curve` may be written.
 */
statpriv_status statpriv_count(uint64_t rows,
                               const char *p,
                               uint64_t known,
                               statpriv_curve **curve);

/**
 * The same for a probability that may lie anywhere between two numbers: δ is the supremum over the range.
 *
 * Required:
 * `lower` and `upper` end with a NUL; `curve` may be written.
 */
statpriv_status statpriv_count_in_range(uint64_t rows,
                                        const char *lower,
                                        const char *upper,
                                        uint64_t known,
                                        statpriv_curve **curve);

/**
 * The exact numbers of rows in each of several cells, whose probabilities sum to one.
 *
 * Required:
 * `cells` points to so many texts, each of which ends with a NUL; `curve` may be written.
 */
statpriv_status statpriv_histogram(uint64_t rows,
                                   const char *const *cells,
                                   size_t number_of_cells,
                                   uint64_t known,
                                   statpriv_curve **curve);

/**
 * The exact sum of whole numbers, one a row. `values` are different, and `probabilities`, in their order, sum to one.
 *
 * Required:
 * `values` points to so many numbers and `probabilities` to so many texts, each of which ends with a NUL; `curve` may be
 * written.
 */
statpriv_status statpriv_sum(uint64_t rows,
                             const int64_t *values,
                             const char *const *probabilities,
                             size_t number_of_values,
                             uint64_t known,
                             statpriv_curve **curve);

/**
 * An exact table that is published only if every cell holds at least `minimum` rows, for every distribution, every number of rows
 * and every number of cells.
 *
 * Required:
 * `curve` may be written.
 */
statpriv_status statpriv_table(uint64_t minimum,
                               uint64_t known,
                               statpriv_curve **curve);

/**
 * The supremum of δ over all such tables, for a minimum up to 1000; `statpriv_table` gives a bound of it.
 *
 * Required:
 * `curve` may be written.
 */
statpriv_status statpriv_table_supremum(uint64_t minimum,
                                        uint64_t known,
                                        statpriv_curve **curve);

/**
 * Several exact answers, each on its part of a secret partition, described as a composition file in JSON:
 *
 * {"population": 3000, "part": [{"size": 1000, "probability": "0.3", "attribute": "smokes"},
 *                               {"size": 1500, "cells": ["0.5", "0.3", "0.2"]}]}
 *
 * A part states "probability" (a number, or a range of two), "cells", or "query": {"kind": "sum", "values": [[0, "0.5"], [1, "0.5"]]};
 * "size"; optionally "attribute", "count" (so many such parts) and "name".
 *
 * Required:
 * `json` ends with a NUL; `curve` may be written.
 */
statpriv_status statpriv_composition(const char *json,
                                     statpriv_curve **curve);

/**
 * The same curve, whose computations end with STATPRIV_STATUS_INTERRUPTED soon after `ended` returns something other than 0. It is called with
 * `context` by the thread that asks the curve, every few thousand terms.
 *
 * Required:
 * `curve` was made by this library; `ended` may be called from any thread with `context` as long as the new curve lives; `watched` may be
 * written.
 */
statpriv_status statpriv_ended_by(const statpriv_curve *curve,
                                  int (*ended)(void*),
                                  void *context,
                                  statpriv_curve **watched);

/**
 * Free a curve. NULL is allowed.
 *
 * Required:
 * The curve was made by this library, and is not used again.
 */
void statpriv_curve_free(statpriv_curve *curve);

/**
 * δ at an ε of either sign, in nats, such as "0.1".
 *
 * Required:
 * `curve` was made by this library; `epsilon` ends with a NUL; `delta` may be written.
 */
statpriv_status statpriv_delta(const statpriv_curve *curve,
                               const char *epsilon,
                               statpriv_enclosure *delta);

/**
 * δ at many ε, which share work. Each ε is the number that its double stores. Nothing is written unless all are computed.
 *
 * Required:
 * `curve` was made by this library; `epsilons` points to so many numbers, and so many ends may be written to `deltas`.
 */
statpriv_status statpriv_deltas(const statpriv_curve *curve,
                                const double *epsilons,
                                size_t number,
                                statpriv_enclosure *deltas);

/**
 * The least ε ≥ 0, in nats, with which the answer is (ε, δ)-statistically private; infinite if there is none.
 *
 * Required:
 * `curve` was made by this library; `delta` ends with a NUL; `epsilon` may be written.
 */
statpriv_status statpriv_epsilon(const statpriv_curve *curve,
                                 const char *delta,
                                 statpriv_enclosure *epsilon);

/**
 * The least type II error β of all tests between two values of a row with type I error α, from 0 to 1.
 *
 * Required:
 * `curve` was made by this library; `alpha` ends with a NUL; `beta` may be written.
 */
statpriv_status statpriv_beta(const statpriv_curve *curve,
                              const char *alpha,
                              statpriv_enclosure *beta);

/**
 * δ to so many significant digits, as two decimal texts with the truth between them, by big integers. A capacity of twice the
 * digits and 40 is always enough. Suprema of tables and ranges in compositions have no digits: STATPRIV_STATUS_PRECISION.
 *
 * Required:
 * `curve` was made by this library; `epsilon` ends with a NUL; `capacity` bytes may be written to each of `lower` and `upper`.
 */
statpriv_status statpriv_delta_digits(const statpriv_curve *curve,
                                      const char *epsilon,
                                      uint32_t digits,
                                      char *lower,
                                      char *upper,
                                      size_t capacity);

/**
 * The least minimum count of every cell with which an exact table is (ε, δ)-statistically private; 0 if none up to 2^52 is
 * enough.
 *
 * Required:
 * `epsilon` and `delta` end with a NUL; `minimum` may be written.
 */
statpriv_status statpriv_least_minimum(const char *epsilon,
                                       const char *delta,
                                       uint64_t known,
                                       uint64_t *minimum);

/**
 * P[X = k] of the number X of hits in n independent trials with probability p.
 *
 * Required:
 * `p` ends with a NUL; `probability` may be written.
 */
statpriv_status statpriv_binomial_pmf(uint64_t k,
                                      uint64_t n,
                                      const char *p,
                                      statpriv_enclosure *probability);

/**
 * P[X >= k] of the same number.
 *
 * Required:
 * As statpriv_binomial_pmf.
 */
statpriv_status statpriv_binomial_upper_tail(uint64_t k,
                                             uint64_t n,
                                             const char *p,
                                             statpriv_enclosure *probability);

/**
 * P[X <= k] of the same number.
 *
 * Required:
 * As statpriv_binomial_pmf.
 */
statpriv_status statpriv_binomial_lower_tail(uint64_t k,
                                             uint64_t n,
                                             const char *p,
                                             statpriv_enclosure *probability);

/**
 * P[X = k] of the number X of marked ones among `draws` of a population, drawn without replacement.
 *
 * Required:
 * `probability` may be written.
 */
statpriv_status statpriv_hypergeometric_pmf(uint64_t k,
                                            uint64_t population,
                                            uint64_t marked,
                                            uint64_t draws,
                                            statpriv_enclosure *probability);

/**
 * P[X >= k] of the same number.
 *
 * Required:
 * `probability` may be written.
 */
statpriv_status statpriv_hypergeometric_upper_tail(uint64_t k,
                                                   uint64_t population,
                                                   uint64_t marked,
                                                   uint64_t draws,
                                                   statpriv_enclosure *probability);

/**
 * The hockey-stick divergence, the sum of (P(a) − e^ε Q(a))_+ over the answers a, of two laws in doubles. Each is divided by its exact
 * sum, which may differ from one as much as rounding explains.
 *
 * Required:
 * `p` and `q` point to so many numbers; `epsilon` ends with a NUL; `delta` may be written.
 */
statpriv_status statpriv_hockey_stick(const double *p,
                                      const double *q,
                                      size_t number,
                                      const char *epsilon,
                                      statpriv_enclosure *delta);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STATPRIV_H */
