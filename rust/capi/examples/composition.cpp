// Several exact answers about one table, from C++. See docs/how-to/use-from-c.md for how this is compiled.

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "statpriv.h"

namespace {

using Curve = std::unique_ptr<statpriv_curve, decltype(&statpriv_curve_free)>;

void check(statpriv_status status) {
  if (status != STATPRIV_STATUS_OK) throw std::runtime_error(statpriv_last_error());
}

Curve composition(const char *json) {
  statpriv_curve *made = nullptr;
  check(statpriv_composition(json, &made));
  return Curve(made, statpriv_curve_free);
}

}  // namespace

int main() {
  const Curve curve = composition(R"({
    "population": 3000,
    "part": [
      {"size": 1000, "probability": "0.3", "attribute": "smokes"},
      {"size": 1500, "cells": ["0.5", "0.3", "0.2"]}
    ]
  })");

  const std::array<double, 3> epsilons = {0.05, 0.1, 0.2};
  std::array<statpriv_enclosure, 3> deltas{};
  check(statpriv_deltas(curve.get(), epsilons.data(), epsilons.size(), deltas.data()));
  for (std::size_t k = 0; k < epsilons.size(); ++k) {
    std::printf("delta(%g) is at most %.4g\n", epsilons[k], deltas[k].upper);
  }

  // One curve may be asked by several threads.
  std::atomic<int> agree{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      statpriv_enclosure delta;
      if (statpriv_delta(curve.get(), "0.1", &delta) == STATPRIV_STATUS_OK && delta.upper > 0) ++agree;
    });
  }
  for (auto &thread : threads) thread.join();
  std::printf("%d threads agree\n", agree.load());
  return agree == 4 ? 0 : 1;
}
