# Compiler flags shared by every target of ours.
add_library(sabia_flags INTERFACE)
target_compile_options(sabia_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast -Wno-missing-field-initializers
  -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms at -O2: GCC 105651 (std::string), GCC 105562 (std::optional, std::function).
  target_compile_options(sabia_flags INTERFACE $<$<CONFIG:Release>:-Wno-restrict -Wno-maybe-uninitialized>)
endif()
target_include_directories(sabia_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/gen)
if(SABIA_SANITIZE)
  # -Wno-maybe-uninitialized: GCC's own std::regex and std::function look uninitialised when instrumented (GCC 105562).
  target_compile_options(sabia_flags INTERFACE -fsanitize=${SABIA_SANITIZE} -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(sabia_flags INTERFACE -fsanitize=${SABIA_SANITIZE})
  set(SABIA_TEST_PROPERTIES ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endif()
find_program(LLD_PROGRAM NAMES ld.lld)
if(LLD_PROGRAM)
  target_link_options(sabia_flags INTERFACE -fuse-ld=lld)
endif()
