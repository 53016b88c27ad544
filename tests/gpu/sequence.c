/* Forward, gradient and step as one sequence, beside the same launches one by one, on any kind of device: the
 * same velocities after as many frames, to the last bit where one thread adds at a time, else to within
 * rounding.
 *
 *   sequence BUNDLE cpu|cuda|vulkan
 *
 * The bundle holds samples/vulkan_engine/throw.ir. Exit code 1: something fails or differs; 77: no such
 * device. */
#include <adrt/adrt_cuda.h>
#include <adrt/adrt_sequence.h>
#include <adrt/adrt_vk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBalls = 256, kFrames = 30, kKernels = 3, kBuffers = 5 };

static adrt_error error = {.struct_size = sizeof error};

static void must(adrt_status status, const char* call) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "sequence: %s: %s: %s\n", call, adrt_status_text(status), error.text);
  exit(1);
}

static adrt_bundle* open_bundle(const char* path) {
  FILE* file = fopen(path, "rb");
  static unsigned char bytes[1 << 22];
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_bundle* bundle = NULL;
  if (file) fclose(file);
  must(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), path);
  return bundle;
}

static adrt_device* open_device(const char* kind) {
  adrt_device* device = NULL;
  adrt_status status = ADRT_ERROR_ARGUMENT;
  if (strcmp(kind, "cpu") == 0) status = adrt_device_open_cpu(NULL, 2, &device, &error);
  if (strcmp(kind, "cuda") == 0) status = adrt_device_open_cuda(NULL, NULL, &device, &error);
  if (strcmp(kind, "vulkan") == 0) status = adrt_device_open_vk(NULL, NULL, &device, &error);
  if (status == ADRT_ERROR_NOT_FOUND) {
    printf("sequence: NO %s DEVICE HERE: %s\n", kind, error.text);
    exit(77);
  }
  must(status, "opening the device");
  return device;
}

/* What one way of running works on. */
typedef struct {
  adrt_memory *buffers[kBuffers], *heaps[kKernels], *statuses[kKernels];
  adrt_launch_plan* plans[kKernels];
} world;

static const char* const kNames[kBuffers] = {"v", "goal", "loss", "v.adj", "loss.adj"};
static const char* const kKernelNames[kKernels] = {"throw", "throw.grad", "descend"};

static adrt_arg buffer_arg(const world* of, int index) {
  adrt_arg arg = {
      .struct_size = sizeof arg, .kind = ADRT_PARAM_BUFFER, .name = kNames[index], .type = ADRT_TYPE_F32};
  int is_loss = index == 2 || index == 4;
  arg.rows = is_loss ? 1 : 2;
  arg.rank = is_loss ? 0 : 1;
  arg.extents[0] = is_loss ? 0 : kBalls;
  arg.data = adrt_memory_data(of->buffers[index]);
  return arg;
}

static void make_plan(world* of, int index, adrt_bundle* bundle, adrt_module* module) {
  static int32_t steps = 50;
  static float dt = 0.02f, rate = 0.3f;
  const adrt_kernel* kernel = NULL;
  adrt_arg args[kBuffers + 3];
  uint32_t count = 0;
  must(adrt_bundle_find_kernel(bundle, kKernelNames[index], 0, &kernel, &error), kKernelNames[index]);
  for (uint32_t param = 0;; ++param) {
    adrt_param_report report = {.struct_size = sizeof report};
    if (adrt_kernel_param(kernel, param, &report, NULL) != ADRT_OK) break;
    adrt_arg arg = {
        .struct_size = sizeof arg, .kind = ADRT_PARAM_SCALAR, .name = report.name, .type = report.type};
    arg.data = strcmp(report.name, "steps") == 0 ? (void*)&steps
               : strcmp(report.name, "dt") == 0  ? &dt
                                                 : &rate;
    for (int buffer = 0; buffer < kBuffers; ++buffer) {
      if (strcmp(report.name, kNames[buffer]) == 0) arg = buffer_arg(of, buffer);
    }
    args[count++] = arg;
  }
  adrt_plan_desc desc = {.struct_size = sizeof desc, .arg_count = count, .args = args, .module = module};
  must(adrt_plan(kernel, &desc, &of->plans[index], &error), kKernelNames[index]);
}

static void make_world(world* of, adrt_device* device, adrt_bundle* bundle, adrt_module* module) {
  static float first[kBuffers][2 * kBalls];
  for (int ball = 0; ball < kBalls; ++ball) {
    first[0][2 * ball] = first[0][2 * ball + 1] = 5;
    first[1][2 * ball] = 2 + 3 * (float)ball / kBalls;
    first[1][2 * ball + 1] = (float)(ball % 8) / 4;
  }
  first[4][0] = 1;
  for (int index = 0; index < kBuffers; ++index) {
    must(adrt_memory_create(device, sizeof first[0], &of->buffers[index], &error), "memory");
    must(adrt_memory_write(of->buffers[index], 0, first[index], sizeof first[0], &error), "writing");
  }
  for (int index = 0; index < kKernels; ++index) {
    adrt_plan_report report = {.struct_size = sizeof report};
    make_plan(of, index, bundle, module);
    must(adrt_plan_info(of->plans[index], &report, &error), "plan_info");
    must(adrt_memory_create(device, report.heap_bytes + 64, &of->heaps[index], &error), "heap");
    must(adrt_memory_create(device, ADRT_STATUS_BYTES, &of->statuses[index], &error), "status block");
  }
}

/* Loss and adjoints begin as zeros in each frame. */
static void begin_frame(world* of) {
  static const float zeros[2 * kBalls];
  must(adrt_memory_write(of->buffers[2], 0, zeros, sizeof zeros, &error), "clearing the loss");
  must(adrt_memory_write(of->buffers[3], 0, zeros, sizeof zeros, &error), "clearing the adjoints");
}

static void release_world(world* of) {
  for (int index = 0; index < kKernels; ++index) {
    adrt_plan_release(of->plans[index]);
    adrt_memory_release(of->heaps[index]);
    adrt_memory_release(of->statuses[index]);
  }
  for (int index = 0; index < kBuffers; ++index) adrt_memory_release(of->buffers[index]);
}

static float run_one_by_one(world* of) {
  float loss = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    begin_frame(of);
    for (int index = 0; index < kKernels; ++index)
      must(adrt_run(of->plans[index], NULL, &error), kKernelNames[index]);
  }
  must(adrt_memory_read(of->buffers[2], 0, &loss, sizeof loss, &error), "reading the loss");
  return loss;
}

static float run_sequence(world* of, adrt_device* device, adrt_sequence_report* report) {
  adrt_sequence* sequence = NULL;
  float loss = 0;
  must(adrt_sequence_create(device, &sequence, &error), "sequence_create");
  for (int index = 0; index < kKernels; ++index) {
    must(
        adrt_sequence_add(sequence, of->plans[index], adrt_memory_data(of->heaps[index]),
                          adrt_memory_bytes(of->heaps[index]), adrt_memory_data(of->statuses[index]), &error),
        kKernelNames[index]);
  }
  for (int frame = 0; frame < kFrames; ++frame) {
    begin_frame(of);
    must(adrt_sequence_run(sequence, &error), "sequence_run");
    for (int index = 0; index < kKernels; ++index) {
      uint32_t block[ADRT_STATUS_BYTES / 4];
      must(adrt_memory_read(of->statuses[index], 0, block, sizeof block, &error), "reading a status block");
      must(adrt_status_read(of->plans[index], block, &error), kKernelNames[index]);
    }
  }
  report->struct_size = sizeof *report;
  must(adrt_sequence_info(sequence, report, &error), "sequence_info");
  adrt_sequence_release(sequence);
  must(adrt_memory_read(of->buffers[2], 0, &loss, sizeof loss, &error), "reading the loss");
  return loss;
}

static double distance(const world* a, const world* b) {
  float x[2 * kBalls], y[2 * kBalls];
  double most = 0;
  must(adrt_memory_read(a->buffers[0], 0, x, sizeof x, &error), "reading");
  must(adrt_memory_read(b->buffers[0], 0, y, sizeof y, &error), "reading");
  for (int index = 0; index < 2 * kBalls; ++index) {
    double one = fabs((double)x[index] - (double)y[index]) / (1 + fabs((double)y[index]));
    if (!(one <= most)) most = one;
  }
  return most;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: sequence BUNDLE cpu|cuda|vulkan\n");
    return 2;
  }
  adrt_bundle* bundle = open_bundle(argv[1]);
  adrt_device* device = open_device(argv[2]);
  adrt_module* module = NULL;
  must(adrt_module_load(device, bundle, &module, &error), "module_load");
  world apart = {0}, together = {0};
  adrt_sequence_report report = {0};
  make_world(&apart, device, bundle, module);
  make_world(&together, device, bundle, module);
  float loss = run_one_by_one(&apart), same = run_sequence(&together, device, &report);
  double off = distance(&together, &apart);
  int good = off < 1e-6 && fabsf(same - loss) <= 1e-4f * fabsf(loss) && loss / kBalls < 1;
  good = good && (strcmp(argv[2], "cuda") != 0 || report.graph_count == 1);
  printf(
      "sequence on %s: loss %.6f, one by one %.6f, velocities differ by %.1e; %u commands, %u waits, "
      "%u barriers, %u graphs: %s\n",
      argv[2], (double)same, (double)loss, off, report.command_count, report.wait_count, report.barrier_count,
      report.graph_count, good ? "agree" : "DIFFER");
  release_world(&apart);
  release_world(&together);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return good ? 0 : 1;
}
