# base/version.cc alone knows these, so that a new version rebuilds one file.
# Configured anew when the checkout moves to another commit.
set(revision "")
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=12 HEAD
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE revision ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE moves ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(ABSOLUTE_PATH moves BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(EXISTS ${moves})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${moves})
  endif()
endif()
set(defines
  ASSAY_VERSION="${PROJECT_VERSION}"
  ASSAY_REVISION="${revision}"
  ASSAY_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  ASSAY_BUILD_TYPE="${CMAKE_BUILD_TYPE}")
set_source_files_properties(${ASSAY_SRC}/ground/base/version.cc PROPERTIES
                            COMPILE_DEFINITIONS "${defines}")

# The one binary. Everything it can do is a subcommand of apps/cli.
if(EXISTS ${ASSAY_SRC}/apps/cli/main.cc)
  add_executable(assay ${ASSAY_SRC}/apps/cli/main.cc)
  target_link_libraries(assay PRIVATE assay_cli assay_flags)
  # The rooms of the load path are linked first. Of an inline function that several rooms have, as
  # the copying of a string, the linker keeps the first copy; one of a room below was made small.
  if(ASSAY_ROOM_KIND STREQUAL "STATIC")
    foreach(room base domain net protocol run record metrics)
      target_sources(assay PRIVATE $<TARGET_OBJECTS:assay_${room}>)
    endforeach()
  endif()
endif()

# Rooms that run once a command or once a person's click: made small, so that the wheel is a quick
# download (tests/package holds its size). Nothing of the load path is in them. With -Os gcc 12
# takes an empty std::optional for one that was not written; the other builds have that warning.
foreach(room audit campaign cli compare conformance decide desk explorer hub interchange loadgen
        manual mcp observe pipeline plan ranks report rulebook rules safety simulate site sites
        store task)
  target_compile_options(assay_${room} PRIVATE
                         $<$<CONFIG:Release>:-Os;-Wno-maybe-uninitialized>)
endforeach()
