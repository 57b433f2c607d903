# callgate_portable: the callgate binary with everything but glibc inside. It is a second link of the objects that
# callgate_bin consists of, so that it costs no second compilation. tools/package.py builds it; CALLGATE_PGLIB is the folder with
# libpgcommon_shlib.a and libpgport_shlib.a, which Debian ships in postgresql-server-dev.
set(CALLGATE_PGLIB "" CACHE PATH "Folder with libpgcommon_shlib.a and libpgport_shlib.a, to build callgate_portable")
if(NOT CALLGATE_PGLIB)
  return()
endif()

set(libraries)
foreach(name pq ssl crypto sqlite3 z zstd brotlidec brotlienc brotlicommon icuuc)
  find_library(CALLGATE_STATIC_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND libraries ${CALLGATE_STATIC_${name}})
  if(name STREQUAL pq)
    list(APPEND libraries ${CALLGATE_PGLIB}/libpgcommon_shlib.a ${CALLGATE_PGLIB}/libpgport_shlib.a)
  endif()
endforeach()

set(objects)
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY AND NOT target MATCHES "_pch|_test|_reference|callgate_source_path|callgate_static|callgate_c_api")
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endif()
endforeach()
add_executable(callgate_portable EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/cli/main.cpp
  ${PROJECT_SOURCE_DIR}/packaging/portable/stand_ins.c ${objects})
set_target_properties(callgate_portable PROPERTIES OUTPUT_NAME callgate RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable)
target_include_directories(callgate_portable PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(callgate_portable PRIVATE ${libraries} Threads::Threads m)
target_link_options(callgate_portable PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--as-needed
  -Wl,-u,PQconnectStartParams)  # libpq is referred to weakly: it has to be asked for
