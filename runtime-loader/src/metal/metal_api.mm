#import <Metal/Metal.h>

#include "metal/api.h"

// The table of api.h, filled with Metal: one call of Metal in each function, and nothing else. Built with
// automatic reference counting; a new object that leaves carries one count, which `release` or `end` takes.

namespace {

template <class T>
T Borrow(void* object) {
  return (__bridge T)object;
}

void* Give(id object) {
  return (__bridge_retained void*)object;
}

void Say(NSString* message, char* text, uint32_t text_size) {
  const char* utf8 = message.UTF8String;
  uint32_t size = 0;
  for (; utf8 && utf8[size] && size + 1 < text_size; ++size) text[size] = utf8[size];
  if (text_size > 0) text[size] = 0;
}

uint32_t NewestLanguage() {
  if (@available(macOS 13.0, iOS 16.0, *)) return 30;
  if (@available(macOS 12.0, iOS 15.0, *)) return 24;
  return 23;
}

void Retain(void*, void* object) {
  CFRetain(object);
}

void Release(void*, void* object) {
  CFRelease(object);
}

void* NewDefaultDevice(void*) {
  return Give(MTLCreateSystemDefaultDevice());
}

void Describe(void*, void* device, adrt_metal_facts* facts) {
  @autoreleasepool {
    id<MTLDevice> metal = Borrow<id<MTLDevice>>(device);
    Say(metal.name, facts->name, sizeof facts->name);
    facts->language = NewestLanguage();
    facts->most_threads = static_cast<uint32_t>(metal.maxThreadsPerThreadgroup.width);
    facts->table_tier = metal.argumentBuffersSupport == MTLArgumentBuffersTier2 ? 2 : 1;
    facts->most_bytes = metal.maxBufferLength;
    facts->working_bytes = 0;
    if (@available(macOS 10.12, iOS 16.0, *)) facts->working_bytes = metal.recommendedMaxWorkingSetSize;
  }
}

void* NewQueue(void*, void* device) {
  return Give([Borrow<id<MTLDevice>>(device) newCommandQueue]);
}

void* NewLibrary(void*, void* device, const char* source, uint64_t source_size, uint32_t language, char* text,
                 uint32_t text_size) {
  @autoreleasepool {
    NSString* code = [[NSString alloc] initWithBytes:source
                                              length:source_size
                                            encoding:NSUTF8StringEncoding];
    if (!code) {
      Say(@"the source is not UTF-8", text, text_size);
      return nullptr;
    }
    MTLCompileOptions* options = [MTLCompileOptions new];
    options.languageVersion = MTLLanguageVersion2_3;
    if (language >= 24) {
      if (@available(macOS 12.0, iOS 15.0, *)) options.languageVersion = MTLLanguageVersion2_4;
    }
    if (language >= 30) {
      if (@available(macOS 13.0, iOS 16.0, *)) options.languageVersion = MTLLanguageVersion3_0;
    }
    // Infinities, NaNs and the order of operations count; newer systems spell it mathMode and keep this.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    options.fastMathEnabled = NO;
#pragma clang diagnostic pop
    NSError* error = nil;
    id<MTLLibrary> library = [Borrow<id<MTLDevice>>(device) newLibraryWithSource:code options:options error:&error];
    // A library that compiled with warnings comes with an error too.
    if (!library) Say(error.localizedDescription, text, text_size);
    return Give(library);
  }
}

id<MTLFunction> FunctionNamed(void* library, const char* name) {
  return [Borrow<id<MTLLibrary>>(library) newFunctionWithName:[NSString stringWithUTF8String:name]];
}

int32_t HasFunction(void*, void* library, const char* name) {
  @autoreleasepool {
    return FunctionNamed(library, name) != nil;
  }
}

void* NewPipeline(void*, void* library, const char* name, uint32_t* most_threads, char* text,
                  uint32_t text_size) {
  @autoreleasepool {
    id<MTLFunction> function = FunctionNamed(library, name);
    if (!function) {
      Say(@"no such function", text, text_size);
      return nullptr;
    }
    NSError* error = nil;
    id<MTLComputePipelineState> pipeline = [function.device newComputePipelineStateWithFunction:function error:&error];
    if (!pipeline) {
      Say(error.localizedDescription, text, text_size);
      return nullptr;
    }
    *most_threads = static_cast<uint32_t>(pipeline.maxTotalThreadsPerThreadgroup);
    return Give(pipeline);
  }
}

void* NewBuffer(void*, void* device, uint64_t bytes) {
  return Give([Borrow<id<MTLDevice>>(device) newBufferWithLength:bytes options:MTLResourceStorageModeShared]);
}

void* Contents(void*, void* buffer) {
  id<MTLBuffer> metal = Borrow<id<MTLBuffer>>(buffer);
  return metal.storageMode == MTLStorageModeShared ? metal.contents : nullptr;
}

uint64_t Length(void*, void* buffer) {
  return Borrow<id<MTLBuffer>>(buffer).length;
}

uint64_t Address(void*, void* buffer) {
  if (@available(macOS 13.0, iOS 16.0, *)) return Borrow<id<MTLBuffer>>(buffer).gpuAddress;
  return 0;
}

void* NewCommands(void*, void* queue) {
  @autoreleasepool {
    return Give([Borrow<id<MTLCommandQueue>>(queue) commandBuffer]);
  }
}

int32_t CommitAndWait(void*, void* commands, int32_t* code, char* text, uint32_t text_size) {
  @autoreleasepool {
    id<MTLCommandBuffer> metal = Borrow<id<MTLCommandBuffer>>(commands);
    [metal commit];
    [metal waitUntilCompleted];
    if (metal.status == MTLCommandBufferStatusCompleted) return ADRT_METAL_DONE;
    NSError* error = metal.error;
    *code = static_cast<int32_t>(error.code);
    Say(error.localizedDescription, text, text_size);
    if (error.code == MTLCommandBufferErrorOutOfMemory) return ADRT_METAL_OUT_OF_MEMORY;
#if TARGET_OS_OSX
    if (error.code == MTLCommandBufferErrorDeviceRemoved) return ADRT_METAL_LOST;
#endif
    return ADRT_METAL_FAILED;
  }
}

void* BeginCompute(void*, void* commands) {
  @autoreleasepool {
    return Give([Borrow<id<MTLCommandBuffer>>(commands) computeCommandEncoder]);
  }
}

void* BeginCopy(void*, void* commands) {
  @autoreleasepool {
    return Give([Borrow<id<MTLCommandBuffer>>(commands) blitCommandEncoder]);
  }
}

void End(void*, void* encoder) {
  @autoreleasepool {
    id<MTLCommandEncoder> metal = (__bridge_transfer id<MTLCommandEncoder>)encoder;
    [metal endEncoding];
  }
}

void SetPipeline(void*, void* encoder, void* pipeline) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder)
      setComputePipelineState:Borrow<id<MTLComputePipelineState>>(pipeline)];
}

void SetBuffer(void*, void* encoder, void* buffer, uint64_t offset, uint32_t index) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder) setBuffer:Borrow<id<MTLBuffer>>(buffer)
                                                    offset:offset
                                                   atIndex:index];
}

void SetBytes(void*, void* encoder, const void* bytes, uint64_t size, uint32_t index) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder) setBytes:bytes length:size atIndex:index];
}

void UseBuffer(void*, void* encoder, void* buffer) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder) useResource:Borrow<id<MTLBuffer>>(buffer)
                                                       usage:MTLResourceUsageRead | MTLResourceUsageWrite];
}

void Dispatch(void*, void* encoder, uint32_t blocks, uint32_t block_size) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder) dispatchThreadgroups:MTLSizeMake(blocks, 1, 1)
                                                threadsPerThreadgroup:MTLSizeMake(block_size, 1, 1)];
}

void Barrier(void*, void* encoder) {
  [Borrow<id<MTLComputeCommandEncoder>>(encoder) memoryBarrierWithScope:MTLBarrierScopeBuffers];
}

void FillZero(void*, void* encoder, void* buffer, uint64_t offset, uint64_t bytes) {
  [Borrow<id<MTLBlitCommandEncoder>>(encoder) fillBuffer:Borrow<id<MTLBuffer>>(buffer)
                                                   range:NSMakeRange(offset, bytes)
                                                   value:0];
}

void Copy(void*, void* encoder, void* from, uint64_t from_offset, void* to, uint64_t to_offset, uint64_t bytes) {
  [Borrow<id<MTLBlitCommandEncoder>>(encoder) copyFromBuffer:Borrow<id<MTLBuffer>>(from)
                                                sourceOffset:from_offset
                                                    toBuffer:Borrow<id<MTLBuffer>>(to)
                                           destinationOffset:to_offset
                                                        size:bytes];
}

constexpr adrt_metal_api kMetalApi = {
    .user = nullptr,
    .retain = Retain,
    .release = Release,
    .new_default_device = NewDefaultDevice,
    .describe = Describe,
    .new_queue = NewQueue,
    .new_library = NewLibrary,
    .has_function = HasFunction,
    .new_pipeline = NewPipeline,
    .new_buffer = NewBuffer,
    .contents = Contents,
    .length = Length,
    .address = Address,
    .new_commands = NewCommands,
    .commit_and_wait = CommitAndWait,
    .begin_compute = BeginCompute,
    .begin_copy = BeginCopy,
    .end = End,
    .set_pipeline = SetPipeline,
    .set_buffer = SetBuffer,
    .set_bytes = SetBytes,
    .use_buffer = UseBuffer,
    .dispatch = Dispatch,
    .barrier = Barrier,
    .fill_zero = FillZero,
    .copy = Copy,
};

}  // namespace

const adrt_metal_api* adrt_metal_system_api(void) {
  return &kMetalApi;
}
