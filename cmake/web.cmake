# The explorer's page (web/) is built by npm and embedded in the program, so that one file serves
# all of it. Without npm, or where npm can't get its packages, the program is built all the same,
# with a page that says so. ASSAY_WEB=OFF does not try.
option(ASSAY_WEB "Build the explorer's page with npm, where npm is" ON)
find_program(ASSAY_NPM npm)
set(page ${CMAKE_CURRENT_BINARY_DIR}/generated/page_embedded.cc)
set(npm "")
set(ASSAY_WEB_SOURCES "")
if(ASSAY_WEB AND ASSAY_NPM AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/web/package.json)
  set(npm ${ASSAY_NPM})
  file(GLOB_RECURSE ASSAY_WEB_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/web/src/*
       ${CMAKE_CURRENT_SOURCE_DIR}/web/public/* ${CMAKE_CURRENT_SOURCE_DIR}/web/tools/*)
  file(GLOB tops CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/web/*.json
       ${CMAKE_CURRENT_SOURCE_DIR}/web/*.ts ${CMAKE_CURRENT_SOURCE_DIR}/web/*.html)
  list(APPEND ASSAY_WEB_SOURCES ${tops} ${CMAKE_CURRENT_SOURCE_DIR}/docs/formats/api.yaml)
endif()
add_custom_command(
  OUTPUT ${page}
  COMMAND ${CMAKE_COMMAND} -DNPM=${npm} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}
          -DWORK=${CMAKE_CURRENT_BINARY_DIR}/page -DOUT=${page}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_page.cmake
  DEPENDS ${ASSAY_WEB_SOURCES} ${ASSAY_SRC}/serving/explorer/no_page.html
          ${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_page.cmake
          ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_files.cmake
  VERBATIM)
target_sources(assay_explorer PRIVATE ${page})
set_source_files_properties(${page} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
