# assay_loadgen_api: LoadGen's interface for a program that was written for the stock library. It
# links the room `sut` and has its headers under the names that such a program includes.
#
# assay_loadgen_shared: the same as libassay_loadgen.so, built when it is asked for by name.
add_library(assay_loadgen_api INTERFACE)
target_include_directories(assay_loadgen_api INTERFACE
  "$<BUILD_INTERFACE:${ASSAY_SRC}/measuring/sut/mlperf>"
  $<INSTALL_INTERFACE:include/assay/sut/mlperf>)
target_link_libraries(assay_loadgen_api INTERFACE assay_sut)

file(WRITE ${CMAKE_BINARY_DIR}/loadgen_shared.cc "")  # a library needs a source
add_library(assay_loadgen_shared SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/loadgen_shared.cc)
target_link_libraries(assay_loadgen_shared PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,assay_sut>"
  "-Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/loadgen_symbols.txt")
set_target_properties(assay_loadgen_shared PROPERTIES OUTPUT_NAME assay_loadgen)
