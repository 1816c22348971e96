# What ships as YAML is built into the library, so that one binary knows it wherever it stands, and
# installed beside it, so that a user can read and copy it: the simulator's catalogue
# (catalogue/*/*.yaml), the suites' workloads (workloads/*.yaml), the ready tasks (tasks/*.yaml),
# what safety grades need (safety/*/*.yaml) and the configs to start from (examples/*.yaml).
include(GNUInstallDirs)
function(assay_embed folder room header function)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.yaml)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/generated/${folder}_embedded.cc)
  string(JOIN "," list ${files})
  add_custom_command(
    OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -DOUT=${embedded} -DROOT=${CMAKE_CURRENT_SOURCE_DIR}/${folder}
            "-DFILES=${list}" -DROOM=${room} -DHEADER=${header} -DFUNCTION=${function}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  target_sources(assay_${room} PRIVATE ${embedded})
  set_source_files_properties(${embedded} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/assay)
endfunction()

assay_embed(catalogue sim sim/catalogue.h embedded_catalogue)
assay_embed(workloads plan plan/workload.h embedded_workloads)
assay_embed(tasks task task/tasks.h embedded_tasks)
assay_embed(examples plan plan/examples.h embedded_examples)
assay_embed(safety safety safety/standard.h embedded_safety)
