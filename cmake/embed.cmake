# embed_files(out.cc name files...): makes out.cc, which defines `const EmbeddedFile name[]` of wire/embedded.h, an entry
# (name without ending, bytes) per file. The assembler copies the bytes: nothing to compile, nothing to parse.
function(embed_files out name)
  get_filename_component(module ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(i 0)
  set(pieces "")
  set(entries "")
  foreach(file ${ARGN})
    get_filename_component(stem ${file} NAME_WE)
    set(symbol sabia_${name}_${i})
    string(APPEND pieces
      "asm(\".pushsection .rodata\\n\"\n    \".global ${symbol}\\n\"\n    \".global ${symbol}_end\\n\"\n"
      "    \"${symbol}:\\n\"\n    \".incbin \\\"${file}\\\"\\n\"\n    \"${symbol}_end:\\n\"\n"
      "    \".byte 0\\n\"\n    \".popsection\\n\");\n"
      "extern \"C\" const char ${symbol}[];\nextern \"C\" const char ${symbol}_end[];\n\n")
    string(APPEND entries "    {\"${stem}\", ${symbol}, ${symbol}_end},\n")
    math(EXPR i "${i} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
#include "@module@/embedded.h"

@pieces@namespace sabia::@module@ {
const std::size_t @name@Count = @i@;
const EmbeddedFile @name@[] = {
@entries@};
}  // namespace sabia::@module@
]])
  # A changed file changes the bytes, not the text of out.cc.
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${ARGN}")
endfunction()

# embed_text(file.csv out.cc name): makes out.cc, which defines `const std::string_view name` in namespace
# sabia::<module> (the folder that calls) as the text of the file. The text may hold no `)embedded"`.
function(embed_text file out name)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(module ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
#include <string_view>

namespace sabia::@module@ {
extern const std::string_view @name@;
const std::string_view @name@ = R"embedded(@text@)embedded";
}  // namespace sabia::@module@
]])
endfunction()
