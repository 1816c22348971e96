# Every third-party library, by the short name that a room's LIBS line uses. Why each was chosen:
# docs/decisions/0002-dependencies.md.
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
# PostgreSQL's client library is opened at run time (store/libpq.h): its header alone.
pkg_check_modules(POSTGRES REQUIRED QUIET libpq)
add_library(assay_libpq INTERFACE)
target_include_directories(assay_libpq SYSTEM INTERFACE ${POSTGRES_INCLUDE_DIRS})
target_link_libraries(assay_libpq INTERFACE ${CMAKE_DL_LIBS})
find_package(GTest)
find_package(benchmark)
# llhttp's sources, which our HTTP parser is held against.
find_path(ASSAY_LLHTTP_INCLUDE llhttp.h PATH_SUFFIXES llhttp PATHS /usr/share/include)
find_path(ASSAY_LLHTTP_SOURCE llhttp.c PATHS /usr/share/llhttp)
# The distribution's Python, which has the distribution's pytest, before any other on the PATH.
find_program(ASSAY_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(ASSAY_PYTHON NAMES python3)

set(ASSAY_LIB_fmt fmt::fmt)
set(ASSAY_LIB_simdjson simdjson::simdjson)
set(ASSAY_LIB_expected "")  # header only: tl/expected.hpp
set(ASSAY_LIB_crypto OpenSSL::Crypto)
set(ASSAY_LIB_ssl OpenSSL::SSL)
set(ASSAY_LIB_xxhash PkgConfig::XXHASH)
set(ASSAY_LIB_zstd PkgConfig::ZSTD)
set(ASSAY_LIB_snappy PkgConfig::SNAPPY)
set(ASSAY_LIB_lz4 PkgConfig::LZ4)
set(ASSAY_LIB_brotli PkgConfig::BROTLI)
set(ASSAY_LIB_sqlite PkgConfig::SQLITE)
set(ASSAY_LIB_postgres "$<BUILD_INTERFACE:assay_libpq>")
set(ASSAY_LIB_nghttp2 PkgConfig::NGHTTP2)
set(ASSAY_LIB_utf8proc PkgConfig::UTF8PROC)
set(ASSAY_LIB_yaml yaml-cpp)
set(ASSAY_LIB_zlib ZLIB::ZLIB)
