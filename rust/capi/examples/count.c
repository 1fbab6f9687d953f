/* How private are an exact count and an exact table? See docs/how-to/use-from-c.md for how this is compiled. */

#include <stdio.h>

#include "statpriv.h"

static int failed(void) {
  fprintf(stderr, "%s\n", statpriv_last_error());
  return 1;
}

int main(void) {
  if (statpriv_abi_version() != STATPRIV_ABI_VERSION) {
    fprintf(stderr, "this program was compiled for another version of statpriv\n");
    return 1;
  }

  statpriv_curve *curve = NULL;
  statpriv_enclosure delta, epsilon;
  if (statpriv_count(1024, "1/2", 0, &curve) != STATPRIV_STATUS_OK) return failed();
  if (statpriv_delta(curve, "0.1", &delta) != STATPRIV_STATUS_OK) return failed();
  if (statpriv_epsilon(curve, "1e-6", &epsilon) != STATPRIV_STATUS_OK) return failed();
  statpriv_curve_free(curve);
  printf("an exact count of 1024 people: delta(0.1) is at most %.4g, and epsilon(1e-6) at most %.4g\n", delta.upper, epsilon.upper);

  uint64_t minimum = 0;
  if (statpriv_least_minimum("1", "1e-5", 0, &minimum) != STATPRIV_STATUS_OK) return failed();
  printf("an exact table is (1, 1e-5)-private if every cell holds %llu rows\n", (unsigned long long)minimum);

  /* What is not allowed is said in a sentence. */
  if (statpriv_count(1024, "1.5", 0, &curve) == STATPRIV_STATUS_ARGUMENT) printf("refused: %s\n", statpriv_last_error());
  return 0;
}
