/* Linked into a program, it ends it where the program asks for executable memory, from before main on.
 *
 * The kernel's filter sees every call of every library. Where there is none, under qemu, calls of the C
 * library's functions that the linker has renamed (--wrap) are looked at instead. */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int is_sealed; /* by the system's filter */

static void refuse(const char* what) {
  fprintf(stderr, "refuse_mappings: %s asks for executable memory\n", what);
  abort();
}

void* __real_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
int __real_mprotect(void* address, size_t size, int protection);
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_mprotect(void* address, size_t size, int protection);

void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (!is_sealed && (protection & PROT_EXEC)) refuse("mmap");
  return __real_mmap(address, size, protection, flags, file, offset);
}

int __wrap_mprotect(void* address, size_t size, int protection) {
  if (!is_sealed && (protection & PROT_EXEC)) refuse("mprotect");
  return __real_mprotect(address, size, protection);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

__attribute__((constructor)) static void seal(void) {
  struct sock_filter rules[] = {
      LOAD(nr),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pkey_mprotect, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      LOAD(args[2]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
  is_sealed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  fprintf(stderr, "refuse_mappings: %s refuses executable memory\n",
          is_sealed ? "the system's filter" : "the linker's wrapper");
}
