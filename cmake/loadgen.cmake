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

# assay_python: the Python package in BUILD/python, for PYTHONPATH; built when it is asked for by
# name, with the headers of pybind11 and of Python.
set(Python3_EXECUTABLE ${ASSAY_PYTHON})
find_package(Python3 COMPONENTS Interpreter Development.Module QUIET)
set(PYBIND11_NOPYTHON ON)  # its headers alone
find_package(pybind11 CONFIG QUIET)
if(NOT pybind11_FOUND OR NOT Python3_Development.Module_FOUND)
  add_custom_target(assay_python
    COMMAND ${CMAKE_COMMAND} -E echo
            "error: assay_python needs: apt-get install pybind11-dev python3-dev"
    COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()
set(package ${CMAKE_BINARY_DIR}/python)
add_library(assay_python MODULE EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/python/loadgen_module.cc)
target_link_libraries(assay_python PRIVATE assay_loadgen_api pybind11::headers Python3::Module)
set_target_properties(assay_python PROPERTIES OUTPUT_NAME _loadgen PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${package}/assay CXX_VISIBILITY_PRESET hidden)
foreach(file assay/__init__.py assay/loadgen.py mlperf_loadgen.py)
  configure_file(${CMAKE_SOURCE_DIR}/python/${file} ${package}/${file} COPYONLY)
endforeach()
