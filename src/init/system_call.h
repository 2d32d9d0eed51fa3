// System calls without a C library, for a program that has none.
//
// Each returns what the kernel does: a negative number is -errno. Threading: reentrant.
#pragma once

#include <cstddef>

namespace sabia::init {

// NOLINTBEGIN(google-runtime-int): the kernel's own type
inline long Call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
#if defined(__x86_64__)
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = 0;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long first asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = 0;
  asm volatile("svc 0"
               : "+r"(first)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
               : "memory");
  return first;
#else
#error "the system call of this processor is not known here"
#endif
}

inline long Address(const void* pointer) { return reinterpret_cast<long>(pointer); }
// NOLINTEND(google-runtime-int)

}  // namespace sabia::init
