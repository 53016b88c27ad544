#include <catch2/catch.hpp>

#include "product/header.h"

using namespace adc;

namespace {

artifact::KernelMeta KernelNamed(std::string_view name) {
  artifact::KernelMeta kernel;
  kernel.name = name;
  kernel.interface_hash = 0xABC;
  return kernel;
}

artifact::ParamMeta ParamNamed(std::string_view name, artifact::ParamKind kind) {
  artifact::ParamMeta param;
  param.name = name;
  param.kind = kind;
  return param;
}

}  // namespace

TEST_CASE("a header gives each given parameter its position and leaves scratch out") {
  artifact::Metadata metadata;
  metadata.producer = "adc";
  artifact::KernelMeta kernel = KernelNamed("k.grad");
  kernel.params.push_back(ParamNamed("x", artifact::ParamKind::kBuffer));
  kernel.params.push_back(ParamNamed("scratch.0", artifact::ParamKind::kScratch));
  kernel.params.push_back(ParamNamed("x.adj", artifact::ParamKind::kBuffer));
  metadata.kernels.push_back(kernel);
  std::string text = product::HeaderText(metadata, "k");
  CHECK(text.find("#define adc_k_grad_name \"k.grad\"") != std::string::npos);
  CHECK(text.find("#define adc_k_grad_interface_hash 0x0000000000000abcull") != std::string::npos);
  CHECK(text.find("adc_k_grad_param_x = 0,") != std::string::npos);
  CHECK(text.find("adc_k_grad_param_x_adj = 1,") != std::string::npos);
  CHECK(text.find("adc_k_grad_param_count = 2") != std::string::npos);
  CHECK(text.find("param_scratch") == std::string::npos);
  CHECK(text.find("args->scratch") == std::string::npos);
}

TEST_CASE("names that become one word in C stay apart") {
  artifact::Metadata metadata;
  metadata.kernels.push_back(KernelNamed("a.b"));
  metadata.kernels.push_back(KernelNamed("a_b"));
  std::string text = product::HeaderText(metadata, "two");
  CHECK(text.find("#define adc_a_b_name \"a.b\"") != std::string::npos);
  CHECK(text.find("#define adc_a_b_2_name \"a_b\"") != std::string::npos);
}

TEST_CASE("a layout's fields are found by offset and stride") {
  artifact::Metadata metadata;
  artifact::LayoutMeta layout;
  layout.name = "grid";
  layout.size = 96;
  layout.alignment = 4;
  artifact::FieldMeta field;
  field.name = "vel";
  field.rows = 3;
  field.offset = 4;
  artifact::LevelMeta level;
  level.extents = {2, 3};
  level.strides = {48, 16};
  field.levels.push_back(level);
  layout.fields.push_back(field);
  metadata.layouts.push_back(layout);
  std::string text = product::HeaderText(metadata, "grid");
  CHECK(text.find("#define adc_layout_grid_bytes 96") != std::string::npos);
  CHECK(text.find("/* vel: vec<f32, 3> dense[2, 3] */") != std::string::npos);
  CHECK(text.find("#define adc_layout_grid_vel_offset 4") != std::string::npos);
  CHECK(text.find("#define adc_layout_grid_vel_stride_0_1 16") != std::string::npos);
}
