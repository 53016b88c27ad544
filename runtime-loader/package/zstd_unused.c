/* Parts of the distribution's zstd that no bundle asks for: frame formats from before version 1.0,
 * dictionaries, checksums of frames, texts of its errors. These are a third of the decoder. Linked into the
 * packaged loader alone, where every name below becomes local, the functions here take the place of zstd's
 * own, whose objects stay out. (A prefix is no such dictionary: the decoder has it as it is.)
 *
 * CheckFrame (artifact-format/src/bundle_read.cpp) refuses frames with another magic number, a dictionary or
 * a checksum before the decoder sees them, so none of this is called but the release of the dictionary that a
 * context does not have. Were one called all the same, a frame of an old format would be no frame, and there
 * would be no dictionary. (A checksum of zstd decides nothing: the format's own hashes do.) */

#include <stddef.h>

/* Functions of several types share one body: they are called by the names and types of zstd's internal
 * headers, and a result in a register is all that the caller takes from them. */
#define IS(name, body) size_t name(void) __attribute__((alias(#body)));

size_t AdrtZstdError(void);
size_t AdrtZstdError(void) {
  return (size_t)-1;
}

IS(ZSTDv05_createDCtx, AdrtZstdError)
IS(ZSTDv05_freeDCtx, AdrtZstdError)
IS(ZSTDv05_decompress_usingDict, AdrtZstdError)
IS(ZSTDv05_findFrameSizeInfoLegacy, AdrtZstdError)
IS(ZSTDv05_getFrameParams, AdrtZstdError)
IS(ZBUFFv05_createDCtx, AdrtZstdError)
IS(ZBUFFv05_freeDCtx, AdrtZstdError)
IS(ZBUFFv05_decompressInitDictionary, AdrtZstdError)
IS(ZBUFFv05_decompressContinue, AdrtZstdError)
IS(ZSTDv06_createDCtx, AdrtZstdError)
IS(ZSTDv06_freeDCtx, AdrtZstdError)
IS(ZSTDv06_decompress_usingDict, AdrtZstdError)
IS(ZSTDv06_findFrameSizeInfoLegacy, AdrtZstdError)
IS(ZSTDv06_getFrameParams, AdrtZstdError)
IS(ZBUFFv06_createDCtx, AdrtZstdError)
IS(ZBUFFv06_freeDCtx, AdrtZstdError)
IS(ZBUFFv06_decompressInitDictionary, AdrtZstdError)
IS(ZBUFFv06_decompressContinue, AdrtZstdError)
IS(ZSTDv07_createDCtx, AdrtZstdError)
IS(ZSTDv07_freeDCtx, AdrtZstdError)
IS(ZSTDv07_decompress_usingDict, AdrtZstdError)
IS(ZSTDv07_findFrameSizeInfoLegacy, AdrtZstdError)
IS(ZSTDv07_getFrameParams, AdrtZstdError)
IS(ZBUFFv07_createDCtx, AdrtZstdError)
IS(ZBUFFv07_freeDCtx, AdrtZstdError)
IS(ZBUFFv07_decompressInitDictionary, AdrtZstdError)
IS(ZBUFFv07_decompressContinue, AdrtZstdError)

size_t AdrtZstdNothing(void);
size_t AdrtZstdNothing(void) {
  return 0;
}

IS(ZSTD_createDDict_advanced, AdrtZstdNothing)
IS(ZSTD_freeDDict, AdrtZstdNothing)
IS(ZSTD_sizeof_DDict, AdrtZstdNothing)
IS(ZSTD_getDictID_fromDDict, AdrtZstdNothing)
IS(ZSTD_DDict_dictContent, AdrtZstdNothing)
IS(ZSTD_DDict_dictSize, AdrtZstdNothing)
IS(ZSTD_copyDDictParameters, AdrtZstdNothing)
IS(ZSTD_XXH64, AdrtZstdNothing)
IS(ZSTD_XXH64_reset, AdrtZstdNothing)
IS(ZSTD_XXH64_update, AdrtZstdNothing)
IS(ZSTD_XXH64_digest, AdrtZstdNothing)

const char* ERR_getErrorString(int code);
const char* ERR_getErrorString(int code) {
  (void)code;
  return "zstd";
}
