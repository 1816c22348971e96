# Installs BUILD into a fresh folder, builds the consumers beside this file against it and runs them
# (the second is a null system under test behind the LoadGen interface), and
# runs the installed program and looks at how it is hardened (hardening_test.py).
set(work ${BUILD}/install_test)
file(REMOVE_RECURSE ${work})

function(must)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
must(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/consumer -G ${GENERATOR}
     -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${work}/prefix)
must(${CMAKE_COMMAND} --build ${work}/consumer)
must(${work}/consumer/consumer)
file(WRITE ${work}/user.conf "*.*.min_duration = 0\n*.*.min_query_count = 64\n")
must(${work}/consumer/loadgen_consumer Offline resnet50 ${work}/user.conf 64 64 -1 0 none ${work} 0)
file(STRINGS ${work}/mlperf_log_summary.txt verdict REGEX "^Result is : VALID$")
if(NOT verdict)
  message(FATAL_ERROR "the installed LoadGen interface gave no VALID test")
endif()
must(${work}/prefix/bin/assay --version)
must(${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/hardening_test.py ${work}/prefix/bin/assay
     ${BUILD_TYPE} ${COMPILER})
