// The pidfd calls of glibc, whose header forgets C linkage before 2.37.
#pragma once

extern "C" {
#include <sys/pidfd.h>
}
