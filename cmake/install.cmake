# `cmake --install`: the program, and libassay for find_package(assay).
#
# libassay is every room as a static library, assay::base … assay::campaign, and assay::assay for
# all of them; headers lie in their rooms under include/assay, so that `#include "base/time.h"`
# reads the same inside and outside. tests/install builds a consumer against an installed tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(assay_library INTERFACE)
set_target_properties(assay_library PROPERTIES EXPORT_NAME assay)
set(installed assay_library)
foreach(room IN LISTS ASSAY_ROOMS)
  set(target assay_${room})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room})
  target_link_libraries(assay_library INTERFACE ${target})
  list(APPEND installed ${target})
  get_property(folder TARGET ${target} PROPERTY ASSAY_FOLDER)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay
          FILES_MATCHING PATTERN "*.h" PATTERN "testing*" EXCLUDE)
endforeach()

set_target_properties(assay_loadgen_api PROPERTIES EXPORT_NAME loadgen_api)
list(APPEND installed assay_loadgen_api)

install(TARGETS ${installed} EXPORT assay ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS assay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The installed program is stripped; its symbols lie where gdb looks for them first. Whoever packs
# the program without them leaves bin/.debug out.
if(CMAKE_OBJCOPY AND CMAKE_STRIP)
  install(CODE "
    set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    file(MAKE_DIRECTORY \"\${bin}/.debug\")
    foreach(step \"--only-keep-debug;assay;.debug/assay.debug\" \"--strip-all;assay\"
                 \"--add-gnu-debuglink=.debug/assay.debug;assay\")
      execute_process(COMMAND \"${CMAKE_OBJCOPY}\" \${step} WORKING_DIRECTORY \"\${bin}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/THIRD_PARTY_NOTICES.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(EXPORT assay NAMESPACE assay:: FILE assayTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/assayConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/assayConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/assayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/assayConfig.cmake ${CMAKE_BINARY_DIR}/assayConfigVersion.cmake
        ${CMAKE_SOURCE_DIR}/cmake/libraries.cmake DESTINATION ${package_dir})
