#pragma once
// Stand-in for Metal's and Foundation's headers: the classes, protocols and numbers that the loader names,
// with the types that Apple's documentation gives them. It declares; there is nothing behind it.

#include <stddef.h>
#include <stdint.h>

#define TARGET_OS_OSX 1
#define nil nullptr
#define YES ((BOOL)1)
#define NO ((BOOL)0)
typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef struct {
  NSUInteger location, length;
} NSRange;
typedef struct {
  NSUInteger width, height, depth;
} MTLSize;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}
extern "C" const void* CFRetain(const void* object);
extern "C" void CFRelease(const void* object);

__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
@end

enum { NSUTF8StringEncoding = 4 };
@interface NSString : NSObject
@property(readonly) const char* UTF8String;
+ (instancetype)stringWithUTF8String:(const char*)text;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSUInteger)encoding;
@end
@interface NSConstantString : NSString
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly, copy) NSString* localizedDescription;
@end

enum MTLLanguageVersion : NSUInteger {
  MTLLanguageVersion2_3 = (2 << 16) + 3,
  MTLLanguageVersion2_4 = (2 << 16) + 4,
  MTLLanguageVersion3_0 = 3 << 16,
};
enum MTLArgumentBuffersTier : NSUInteger { MTLArgumentBuffersTier1 = 0, MTLArgumentBuffersTier2 = 1 };
enum MTLStorageMode : NSUInteger { MTLStorageModeShared = 0, MTLStorageModePrivate = 2 };
enum MTLResourceOptions : NSUInteger { MTLResourceStorageModeShared = 0 };
enum : NSUInteger { MTLResourceUsageRead = 1, MTLResourceUsageWrite = 2 };
typedef NSUInteger MTLResourceUsage;
enum : NSUInteger { MTLBarrierScopeBuffers = 1 };
typedef NSUInteger MTLBarrierScope;
enum MTLCommandBufferStatus : NSUInteger { MTLCommandBufferStatusCompleted = 4 };
enum { MTLCommandBufferErrorOutOfMemory = 8, MTLCommandBufferErrorDeviceRemoved = 11 };

@interface MTLCompileOptions : NSObject
@property MTLLanguageVersion languageVersion;
@property BOOL fastMathEnabled;
@end

@protocol MTLDevice;
@protocol MTLFunction
@property(readonly) id<MTLDevice> device;
@end
@protocol MTLLibrary
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
@end
@protocol MTLComputePipelineState
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@end
@protocol MTLResource
@property(readonly) MTLStorageMode storageMode;
@end
@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) void* contents;
@property(readonly) uint64_t gpuAddress;
@end
@protocol MTLCommandEncoder
- (void)endEncoding;
@end
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
@end
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)copyFromBuffer:(id<MTLBuffer>)from
          sourceOffset:(NSUInteger)from_offset
              toBuffer:(id<MTLBuffer>)to
     destinationOffset:(NSUInteger)to_offset
                  size:(NSUInteger)size;
@end
@protocol MTLCommandBuffer
@property(readonly) MTLCommandBufferStatus status;
@property(readonly) NSError* error;
- (void)commit;
- (void)waitUntilCompleted;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLBlitCommandEncoder>)blitCommandEncoder;
@end
@protocol MTLCommandQueue
- (id<MTLCommandBuffer>)commandBuffer;
@end
@protocol MTLDevice
@property(readonly) NSString* name;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) uint64_t recommendedMaxWorkingSetSize;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
@end
extern "C" id<MTLDevice> MTLCreateSystemDefaultDevice(void);
