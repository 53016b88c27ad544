#include "relax.h"

const char* gradient_name(void);
const char* gradient_name(void) {
  return adc_relax_grad_name;
}
