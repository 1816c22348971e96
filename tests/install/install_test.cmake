# Installs BUILD into a fresh folder, builds the consumer beside this file against it, runs it, and
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
must(${work}/prefix/bin/assay --version)
must(${PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/hardening_test.py ${work}/prefix/bin/assay
     ${BUILD_TYPE} ${COMPILER})
