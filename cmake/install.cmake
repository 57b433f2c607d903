# `cmake --install BUILD --component NAME`: `dev` has headers, the static library and the files for CMake and pkg-config, `shared` the
# shared library, `server` the callgate binary. Without a component everything is installed.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/callgate)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/callgate TYPE INCLUDE COMPONENT dev)
install(TARGETS callgate_static EXPORT callgate ARCHIVE COMPONENT dev)
install(EXPORT callgate FILE callgateTargets.cmake NAMESPACE callgate:: DESTINATION ${package} COMPONENT dev)
if(TARGET callgate_c)
  # In a file of its own: it is there only if the shared library is.
  install(TARGETS callgate_c EXPORT callgate_c LIBRARY COMPONENT shared NAMELINK_COMPONENT dev)
  install(EXPORT callgate_c FILE callgateSharedTargets.cmake NAMESPACE callgate:: DESTINATION ${package} COMPONENT dev)
endif()
configure_package_config_file(cmake/callgateConfig.cmake.in ${PROJECT_BINARY_DIR}/callgateConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/callgateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/callgateConfig.cmake ${PROJECT_BINARY_DIR}/callgateConfigVersion.cmake
  DESTINATION ${package} COMPONENT dev)
file(RELATIVE_PATH CALLGATE_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # so that an installed folder may be moved
foreach(name callgate callgate_c)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
