#ifndef ADC_TYPED_CALLS_STRUCTS_H
#define ADC_TYPED_CALLS_STRUCTS_H
/* What structs.c and struct_spans.cpp share: elements with values of their own, and what the kernels make of
 * them. */
#include "cells.h"
#include "cells_adcb.h"
#include "particles.h"
#include "particles_adcb.h"
#include "session.h"

enum { ELEMENTS = 5 };

static inline adc_weigh_p_element particle(int n) {
  adc_weigh_p_element one;
  memset(&one, 0xee, sizeof one); /* padding is not read */
  const float at = (float)n;
  for (int k = 0; k < 3; ++k) one.position[k] = at + 0.5f * (float)k;
  for (int k = 0; k < 6; ++k) one.frame[k / 3][k % 3] = 1.25f * at - (float)k;
  one.id = 3 * n;
  one.is_fixed = n == 3;
  one.weights[0] = -1;
  one.weights[1] = 0.25f * at;
  one.low = (uint16_t)(40000 + n);
  one.high = (uint16_t)(39990 - n);
  return one;
}

static inline float weight(const adc_weigh_p_element* one) {
  if (one->is_fixed) return 0;
  return one->position[0] * one->position[1] + one->position[2] * one->frame[1][2] +
         one->frame[0][1] * one->frame[0][1] + one->weights[1] * (float)(one->id + one->low - one->high);
}

/* The adjoint of a particle whose weight has the seed 1. */
static inline void check_particle_adjoint(const adc_weigh_p_element* one,
                                          const adc_weigh_p_element* adjoint) {
  const float on = one->is_fixed ? 0.0f : 1.0f;
  expect(adjoint->position[0] == on * one->position[1] && adjoint->position[1] == on * one->position[0] &&
             adjoint->position[2] == on * one->frame[1][2],
         "the adjoint of a position is another one");
  expect(adjoint->frame[1][2] == on * one->position[2] && adjoint->frame[0][1] == on * 2 * one->frame[0][1] &&
             adjoint->frame[0][0] == 0,
         "the adjoint of a frame is another one");
  expect(adjoint->weights[0] == 0 && adjoint->weights[1] == on * (float)(one->id + one->low - one->high),
         "the adjoint of a weight is another one");
}

static inline adc_count_cells_cells_element counted(int n) {
  adc_count_cells_cells_element one;
  memset(&one, 0xee, sizeof one);
  one.mass = 0.5 * n;
  one.flags = 100 * n;
  for (int k = 0; k < 2; ++k) {
    one.spins[k].rate = 1.5 * n + k;
    one.spins[k].kind = (int16_t)(n - 3 * k);
  }
  return one;
}

static inline void check_counted(const adc_count_cells_cells_element* after, int n, int i, int j) {
  const adc_count_cells_cells_element before = counted(n);
  expect(after->mass == before.mass + before.spins[1].rate * before.spins[1].kind, "another mass");
  expect(after->flags == before.flags + i - j, "other flags");
  expect(after->spins[0].rate == before.spins[0].rate && after->spins[1].kind == before.spins[1].kind,
         "what is not written has changed");
}

static inline adc_cells_cells_element cell(int n) {
  adc_cells_cells_element one;
  memset(&one, 0xee, sizeof one);
  const float at = (float)n;
  for (int k = 0; k < 3; ++k) {
    one.position[k] = at - (float)k;
    one.weights[k] = 0.5f * at + (float)k;
    for (int row = 0; row < 3; ++row) one.frame[k][row] = at * (float)(k - row);
  }
  one.spin.axis[0] = one.spin.axis[1] = 0.25f * at;
  one.spin.kind = -n;
  one.flags = 7u * (uint32_t)n;
  for (int k = 0; k < 2; ++k) {
    one.spins[k].axis[0] = one.spins[k].axis[1] = at + 2.0f * (float)k;
    one.spins[k].kind = n + k;
  }
  return one;
}

static inline float sum_of(const adc_cells_cells_element* one) {
  return one->position[0] * one->position[2] + one->frame[2][1] * one->weights[2] +
         one->spin.axis[1] * (float)one->spin.kind + one->spins[1].axis[0] * (float)one->spins[1].kind +
         (float)one->flags;
}

static inline void check_cell_adjoint(const adc_cells_cells_element* one,
                                      const adc_cells_cells_element* adjoint) {
  expect(adjoint->position[0] == one->position[2] && adjoint->position[1] == 0 &&
             adjoint->position[2] == one->position[0],
         "the adjoint of a position is another one");
  expect(adjoint->frame[2][1] == one->weights[2] && adjoint->frame[1][2] == 0 &&
             adjoint->weights[2] == one->frame[2][1],
         "the adjoint of a frame is another one");
  expect(adjoint->spin.axis[1] == (float)one->spin.kind &&
             adjoint->spins[1].axis[0] == (float)one->spins[1].kind && adjoint->spins[0].axis[0] == 0,
         "the adjoint of a spin is another one");
}

#endif
