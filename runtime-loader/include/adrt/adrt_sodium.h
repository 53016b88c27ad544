#ifndef ADRT_ADRT_SODIUM_H
#define ADRT_ADRT_SODIUM_H
/* adrt_host.check_signature by libsodium, for programs that link it (-lsodium). Any other library works as
 * well: the signatures are plain Ed25519 (RFC 8032). */

#include <adrt/adrt.h>
#include <sodium.h>

static inline int adrt_sodium_check_signature(void* user, const uint8_t key[32], const uint8_t signature[64],
                                              const void* message, size_t message_size) {
  (void)user;
  return crypto_sign_ed25519_verify_detached(signature, (const unsigned char*)message, message_size, key) ==
         0;
}

#endif
