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
