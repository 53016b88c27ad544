/* A kernel linked into the program: no bundle, no loader. */
#include <artifact/cpu_abi.h>
#include <math.h>
#include <stdio.h>

#include "relax_linked_entries.h"

int main(void) {
  float x[3] = {0.25f, 0.5f, -1}, loss = 0;
  uint32_t status[ADRT_CPU_STATUS_WORDS] = {0};
  uint64_t cells[4] = {(uint64_t)(uintptr_t)x, 3, (uint64_t)(uintptr_t)&loss, 2};
  adrt_cpu_frame frame = {.cells = cells, .status = status};
  mine_adc_relax_t0(&frame, 0, 3);
  double expected = 0;
  for (int i = 0; i < 3; ++i) expected += sin(sin(x[i]) + 0.1) + 0.1;
  printf("linked: %.6f, expected %.6f\n", loss, expected);
  return fabs(loss - expected) > 1e-5 || status[ADRT_CPU_STATUS_CODE] != 0;
}
