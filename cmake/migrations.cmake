# The store's schema (src/showing/store/migrations/*.sql) is built into the library: whoever opens a
# store first makes or moves its tables.
file(GLOB ASSAY_MIGRATIONS CONFIGURE_DEPENDS ${ASSAY_SRC}/showing/store/migrations/*.sql)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/generated/migrations_embedded.cc)
string(JOIN "," ASSAY_MIGRATION_LIST ${ASSAY_MIGRATIONS})
add_custom_command(
  OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded} -DROOT=${ASSAY_SRC}/showing/store/migrations
          "-DFILES=${ASSAY_MIGRATION_LIST}" -DHEADER=store/migrate.h -DSPACE=assay::store
          -DFUNCTION=embedded_migrations -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_files.cmake
  DEPENDS ${ASSAY_MIGRATIONS} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
target_sources(assay_store PRIVATE ${embedded})
set_source_files_properties(${embedded} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
