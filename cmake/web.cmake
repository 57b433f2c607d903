# Bundles web/ into a generated source of the inspector. It runs beside the compiler; where Node.js is missing, the binary has a
# plain page instead.
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*)
add_custom_command(
  OUTPUT ${CMAKE_BINARY_DIR}/generated/page_assets.inc
  COMMAND ${PROJECT_SOURCE_DIR}/tools/build_web.sh ${CMAKE_BINARY_DIR}/generated/page_assets.inc
  DEPENDS ${web_files} ${PROJECT_SOURCE_DIR}/tools/build_web.sh ${PROJECT_SOURCE_DIR}/tools/pack_web.py
  COMMENT "Bundling the inspector" VERBATIM)
add_custom_target(callgate_web DEPENDS ${CMAKE_BINARY_DIR}/generated/page_assets.inc)
add_dependencies(callgate_inspector callgate_web)
target_include_directories(callgate_inspector PRIVATE ${CMAKE_BINARY_DIR}/generated)
