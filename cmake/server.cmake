# The modules below the I/O line, the one above it that only they use, and the binary.
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_path(BROTLI_INCLUDE brotli/decode.h REQUIRED)
find_library(BROTLI_DECODER brotlidec REQUIRED)
find_library(BROTLI_ENCODER brotlienc REQUIRED)

# Node's HTTP parser, compiled from the generated sources that Debian's node-llhttp ships.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp REQUIRED)
find_path(LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE}/llhttp.c ${LLHTTP_SOURCE}/api.c ${LLHTTP_SOURCE}/http.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_compile_definitions(llhttp PUBLIC LLHTTP_STRICT_MODE=1)

# These modules wait for sockets more than they compute: with sanitizers they compile in half the time like this.
if(CALLGATE_SANITIZE)
  add_compile_options(-O0)
endif()

# What nearly every source below the I/O line includes.
callgate_pch(callgate_pch_io <algorithm> <array> <atomic> <chrono> <condition_variable> <coroutine> <cstdint> <deque>
  <functional> <list> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map>
  <unordered_set> <utility> <variant> <vector> <tl/expected.hpp>)

callgate_module(compress USES base LIBS ZLIB::ZLIB ${ZSTD_LIBRARY} ${BROTLI_DECODER} ${BROTLI_ENCODER}
  PCH callgate_pch_io)
callgate_module(net USES compress LIBS llhttp OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB Threads::Threads
  PCH callgate_pch_io)
callgate_module(tool USES chat net PCH callgate_pch_io)
callgate_module(telemetry USES engine net LIBS Threads::Threads PCH callgate_pch_io)
callgate_module(store USES compress engine net LIBS SQLite::SQLite3 Threads::Threads ${CMAKE_DL_LIBS}
  PCH callgate_pch_io TOGETHER *postgresql*)
# Not linked: it is loaded when a store needs it (ADR 81).
target_include_directories(callgate_store SYSTEM PRIVATE ${PostgreSQL_INCLUDE_DIRS})
include(cmake/migrations.cmake)
callgate_module(config USES capture loop store tool PCH callgate_pch_io)
callgate_module(session USES store PCH callgate_pch_io)
callgate_module(dial USES config script session telemetry PCH callgate_pch_io)
callgate_module(recorder USES replay dial telemetry PCH callgate_pch_io)
callgate_module(access USES config store PCH callgate_pch_io)
callgate_module(turn USES access loop recorder PCH callgate_pch_io)
callgate_module(front USES turn PCH callgate_pch_io)
callgate_module(room USES front PCH callgate_pch_io)
callgate_module(response USES front PCH callgate_pch_io)
callgate_module(admin USES front PCH callgate_pch_io)
callgate_module(inspector USES admin compress contract replay PCH callgate_pch_io)
include(cmake/web.cmake)
callgate_module(gateway USES inspector response room PCH callgate_pch_io)
callgate_module(mock USES gateway PCH callgate_pch_io)
callgate_module(cli USES mock contract PCH callgate_pch_io)
include(cmake/golden_counts.cmake)

if(EXISTS ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  add_executable(callgate_bin ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  set_target_properties(callgate_bin PROPERTIES OUTPUT_NAME callgate)
  target_link_libraries(callgate_bin PRIVATE callgate_cli)
endif()
include(cmake/server_install.cmake)
include(cmake/portable.cmake)
