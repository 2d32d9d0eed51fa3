# add_module(name [DEPS modules...] [LIBS libraries...] [SOURCES extra...])
#
# One folder of src/ is one module: a static library sabia_<name> of all *.cc in the folder (and in the
# sub-folders posix/ and testing/), a test program <name>_test of all *_test.cc, and a link test: an empty
# main linked against the whole archive and the declared dependencies only, so that a call against the
# arrows of ARCHITECTURE.md is a linker error. Headers escape the linker: tools/tidy checks #include edges.
function(add_module name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc posix/*.cc testing/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/main\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPS PREPEND sabia_ OUTPUT_VARIABLE deps)
  if(NOT sources AND NOT ARG_SOURCES)  # Headers only.
    add_library(sabia_${name} INTERFACE)
    target_link_libraries(sabia_${name} INTERFACE ${deps} ${ARG_LIBS})
    return()
  endif()
  add_library(sabia_${name} STATIC ${sources} ${ARG_SOURCES})
  target_link_libraries(sabia_${name} PUBLIC ${deps} ${ARG_LIBS} PRIVATE sabia_flags)
  target_include_directories(sabia_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/gen)
  if(NOT SABIA_TESTS)
    return()
  endif()
  add_executable(${name}_link_test ${PROJECT_SOURCE_DIR}/cmake/empty_main.cc)
  target_link_libraries(${name}_link_test PRIVATE
    -Wl,--whole-archive $<TARGET_FILE:sabia_${name}> -Wl,--no-whole-archive
    ${deps} ${ARG_LIBS} sabia_flags)
  add_dependencies(${name}_link_test sabia_${name})
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE sabia_${name} sabia_flags GTest::gmock GTest::gtest_main)
    gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120 ${SABIA_TEST_PROPERTIES})
  endif()
endfunction()
