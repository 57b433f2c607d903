# What other projects use: `callgate`, one static library with the C++ and the C interface, and `callgate_c`, a shared
# library that exports the C interface alone (ADR 48). Both consist of the objects of the modules above the I/O line.
include(GNUInstallDirs)
set(CALLGATE_CORE base json sse chat upstream dialect policy client engine loop c_api)
list(TRANSFORM CALLGATE_CORE REPLACE "(.+)" "$<TARGET_OBJECTS:callgate_\\1>" OUTPUT_VARIABLE objects)

# Position independent, for the shared library. Hidden symbols cost nothing then. A precompiled header and its users have
# to agree.
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(REMOVE_ITEM targets callgate_pch_test callgate_source_path)
foreach(target IN LISTS targets)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
  endif()
endforeach()

add_library(callgate_static STATIC ${objects})
add_library(callgate ALIAS callgate_static)
add_library(callgate::callgate ALIAS callgate_static)
set_target_properties(callgate_static PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME callgate EXPORT_NAME callgate)
target_compile_features(callgate_static PUBLIC cxx_std_20)
target_include_directories(callgate_static PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(callgate_static PRIVATE ICU::uc)

if(CALLGATE_SHARED)
  add_library(callgate_c SHARED ${objects})
  add_library(callgate::callgate_c ALIAS callgate_c)
  set(exports ${CMAKE_CURRENT_LIST_DIR}/callgate_c.map)
  set_target_properties(callgate_c PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION 0
    LINK_DEPENDS ${exports})
  target_link_options(callgate_c PRIVATE -Wl,--version-script=${exports})
  target_include_directories(callgate_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(callgate_c PRIVATE ICU::uc)
endif()

if(CALLGATE_INSTALL)
  include(cmake/install.cmake)
endif()
