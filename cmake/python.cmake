# The Python package in BUILD/python, for PYTHONPATH; built when it is asked for by name.
#
# assay_python_columns: what reads runs and starts the program; any Python takes it, since ctypes
# loads its library. assay_python: that and assay.loadgen, with the headers of pybind11 and of
# Python.
set(package ${CMAKE_BINARY_DIR}/python)
file(GLOB files RELATIVE ${CMAKE_SOURCE_DIR}/python CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/python/assay/*.py ${CMAKE_SOURCE_DIR}/python/assay/*.pyi
     ${CMAKE_SOURCE_DIR}/python/assay/py.typed
     ${CMAKE_SOURCE_DIR}/python/*.py)
foreach(file IN LISTS files)
  configure_file(${CMAKE_SOURCE_DIR}/python/${file} ${package}/${file} COPYONLY)
endforeach()

add_library(assay_python_columns MODULE EXCLUDE_FROM_ALL
            ${CMAKE_SOURCE_DIR}/python/columns_api.cc)
target_link_libraries(assay_python_columns PRIVATE assay_interchange assay_flags)
target_link_options(assay_python_columns PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL)
set_target_properties(assay_python_columns PROPERTIES OUTPUT_NAME _columns PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${package}/assay CXX_VISIBILITY_PRESET hidden)

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
add_library(assay_python MODULE EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/python/loadgen_module.cc)
target_link_libraries(assay_python PRIVATE assay_loadgen_api pybind11::headers Python3::Module)
set_target_properties(assay_python PROPERTIES OUTPUT_NAME _loadgen PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${package}/assay CXX_VISIBILITY_PRESET hidden)
add_dependencies(assay_python assay_python_columns)
