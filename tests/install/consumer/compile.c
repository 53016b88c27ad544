/* The compiler as a library, from what is installed. Code for CUDA needs bitcode, which is found beside the
 * library. */
#include <adc/adc.h>
#include <stdio.h>
#include <string.h>

static void report(void* user, const adc_diagnostic* diagnostic) {
  (void)user;
  fputs(diagnostic->text, stderr);
}

int main(void) {
  static const char text[] =
      "kernel @k(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff writeonce) {\n"
      "  parallel %i in 0..shape(%x, 0) {\n"
      "    %a = load %x[%i]\n"
      "    store %y[%i], (sin %a)\n"
      "  }\n"
      "}\n";
  const char* targets[] = {"cpu:x86-64", "cuda:sm_80"};
  adc_source source = {.name = "k.ir", .text = text, .size = sizeof text - 1};
  adc_options options;
  adc_options_init(&options);
  options.targets = targets;
  options.target_count = 2;
  options.report = report;
  adc_product* product = NULL;
  if (adc_compile(&source, 1, &options, &product) != ADC_OK) return 1;
  size_t size = 0;
  const uint8_t* bytes = adc_product_bytes(product, &size);
  int good = size > 128 && memcmp(bytes + 1, "ADC", 3) == 0;
  printf("%s: %zu bytes\n", adc_version(), size);
  adc_product_free(product);
  return good ? 0 : 1;
}
