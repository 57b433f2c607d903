# The callgate binary, and what it says of its own build (`callgate version`).
set(commit "${CALLGATE_COMMIT}")  # of builds from an archive, where there is no git
if(NOT commit AND CMAKE_BUILD_TYPE STREQUAL Release)  # others would compile and link again after each commit
  execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/build_commit.inc @ONLY CONTENT
  "inline constexpr char kCommit[] = \"@commit@\";\n")
if(CALLGATE_INSTALL)
  install(TARGETS callgate_bin RUNTIME COMPONENT server)
endif()
