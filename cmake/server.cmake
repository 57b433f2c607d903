# The rooms below the I/O line, the one above it that only they use, and the binary.
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
find_package(Boost 1.81 REQUIRED)

# Node's HTTP parser, compiled from the generated sources that Debian's node-llhttp ships.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp REQUIRED)
find_path(LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp REQUIRED)
add_library(llhttp STATIC ${LLHTTP_SOURCE}/llhttp.c ${LLHTTP_SOURCE}/api.c ${LLHTTP_SOURCE}/http.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_compile_definitions(llhttp PUBLIC LLHTTP_STRICT_MODE=1)

callgate_pch(callgate_pch_asio <boost/asio/awaitable.hpp> <boost/asio/io_context.hpp> <boost/asio/ip/tcp.hpp>
  <string> <string_view> <vector> <memory> <optional> <variant> <tl/expected.hpp>)
target_link_libraries(callgate_pch_asio PRIVATE Boost::headers Threads::Threads)

# What nearly every source below the I/O line includes.
callgate_pch(callgate_pch_io <algorithm> <array> <atomic> <chrono> <condition_variable> <coroutine> <cstdint> <deque>
  <functional> <list> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map>
  <unordered_set> <utility> <variant> <vector> <tl/expected.hpp>)

callgate_room(compress USES base LIBS ZLIB::ZLIB ${ZSTD_LIBRARY} ${BROTLI_DECODER} ${BROTLI_ENCODER})
callgate_room(net USES compress LIBS llhttp OpenSSL::SSL OpenSSL::Crypto ZLIB::ZLIB Boost::headers Threads::Threads
  PCH callgate_pch_asio)
callgate_room(tool USES chat net PCH callgate_pch_io)
callgate_room(telemetry USES engine net LIBS Threads::Threads PCH callgate_pch_io)
callgate_room(store USES compress engine net LIBS SQLite::SQLite3 PostgreSQL::PostgreSQL Threads::Threads
  PCH callgate_pch_io TOGETHER *postgresql*)
include(cmake/migrations.cmake)
callgate_room(server USES engine loop script net tool telemetry store PCH callgate_pch_io)
callgate_room(cli USES server)
include(cmake/golden_counts.cmake)

# These are little of ours and much of CLI11, valijson and toml++: with sanitizers they compile in a third of the time like
# this. The fuzzers compile the schema reader as everything else.
if(CALLGATE_SANITIZE)
  file(GLOB template_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*_command.cpp)
  list(APPEND template_sources ${PROJECT_SOURCE_DIR}/src/tool/argument_schema.cpp
    ${PROJECT_SOURCE_DIR}/src/server/config_load.cpp)
  set_source_files_properties(${template_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-O0;-fno-sanitize=undefined")
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  add_executable(callgate_bin ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  set_target_properties(callgate_bin PROPERTIES OUTPUT_NAME callgate)
  target_link_libraries(callgate_bin PRIVATE callgate_cli)
endif()
