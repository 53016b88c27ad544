// As much of Apple's Metal and Foundation headers as metal_api.mm uses, so that the one Objective-C++ file of
// the loader is parsed and type-checked on systems that have neither. Signatures are those of Apple's
// documentation.
#pragma once

typedef signed char BOOL;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil nullptr
#define TARGET_OS_OSX 1
typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef const void* CFTypeRef;
extern "C" CFTypeRef CFRetain(CFTypeRef object);
extern "C" void CFRelease(CFTypeRef object);
struct NSRange {
  NSUInteger location, length;
};
NSRange NSMakeRange(NSUInteger location, NSUInteger length);

__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
@end
enum NSStringEncoding : NSUInteger { NSUTF8StringEncoding = 4 };
@interface NSString : NSObject
@property(readonly) const char* UTF8String __attribute__((objc_returns_inner_pointer));
+ (NSString*)stringWithUTF8String:(const char*)text;
- (instancetype)initWithBytes:(const void*)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding;
@end
@interface NSConstantString : NSString {
  const char* c_string;
  unsigned int length;
}
@end
@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly, copy) NSString* localizedDescription;
@end

struct MTLSize {
  NSUInteger width, height, depth;
};
MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth);
enum MTLLanguageVersion : NSUInteger {
  MTLLanguageVersion2_3 = (2 << 16) + 3,
  MTLLanguageVersion2_4 __attribute__((availability(macos, introduced = 12.0))) = (2 << 16) + 4,
  MTLLanguageVersion3_0 __attribute__((availability(macos, introduced = 13.0))) = (3 << 16)
};
enum MTLArgumentBuffersTier : NSUInteger { MTLArgumentBuffersTier1 = 0, MTLArgumentBuffersTier2 = 1 };
enum MTLResourceOptions : NSUInteger { MTLResourceStorageModeShared = 0 };
enum MTLStorageMode : NSUInteger {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2
};
typedef NSUInteger MTLResourceUsage;
enum : NSUInteger { MTLResourceUsageRead = 1, MTLResourceUsageWrite = 2 };
enum MTLBarrierScope : NSUInteger { MTLBarrierScopeBuffers = 1 };
enum MTLCommandBufferStatus : NSUInteger {
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5
};
enum MTLCommandBufferError : NSUInteger {
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorDeviceRemoved = 11
};

@protocol MTLDevice;
@protocol MTLResource
@end
@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) unsigned long long gpuAddress __attribute__((availability(macos, introduced=13.0)));
- (void*)contents;
@end
@protocol MTLFunction
@property(readonly) id<MTLDevice> device;
@end
@protocol MTLLibrary
- (id<MTLFunction>)newFunctionWithName:(NSString*)name;
@end
@protocol MTLComputePipelineState
@property(readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@end
@protocol MTLCommandEncoder
- (void)endEncoding;
@end
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage;
- (void)dispatchThreadgroups:(MTLSize)blocks threadsPerThreadgroup:(MTLSize)threads;
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope;
@end
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(unsigned char)value;
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
@interface MTLCompileOptions : NSObject
@property MTLLanguageVersion languageVersion;
@property BOOL fastMathEnabled;
@end
@protocol MTLDevice
@property(readonly) NSString* name;
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property(readonly) NSUInteger maxBufferLength;
@property(readonly) unsigned long long recommendedMaxWorkingSetSize;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError* __autoreleasing*)error;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError* __autoreleasing*)error;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
@end
extern "C" id<MTLDevice> MTLCreateSystemDefaultDevice(void) __attribute__((ns_returns_retained));
