# The checks of the source itself, beside the tests of what it does.
if(ASSAY_TESTS)
  add_test(NAME tidy.rules COMMAND ${ASSAY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/tidy.py)
  add_test(NAME tidy.rules_find_faults
           COMMAND ${ASSAY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/tidy_test.py)
  add_test(NAME tidy.format
           COMMAND ${ASSAY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/lint.py format)
  set_tests_properties(tidy.rules tidy.rules_find_faults tidy.format PROPERTIES LABELS tidy)
endif()
if(ASSAY_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_test(NAME analyse.clang
           COMMAND ${ASSAY_PYTHON} ${CMAKE_SOURCE_DIR}/tools/lint.py analyse
                   ${CMAKE_BINARY_DIR})
  set_tests_properties(analyse.clang PROPERTIES LABELS analyse TIMEOUT 1800)
endif()
