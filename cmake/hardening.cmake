# Hardening of what users run: what a fault in our memory is turned into an end by, rather than into
# somebody's foothold. Of optimised builds only: the sanitizers of the others look for the same
# faults and know more, and without optimisation FORTIFY checks nothing.
#
# -D_GLIBCXX_ASSERTIONS is not among them: it checks every [] on the path of each received byte, and
# the dev and fuzz builds check the same with the address sanitizer.
option(ASSAY_HARDEN "Harden optimised builds (off: to measure what it costs)" ON)
if(ASSAY_SANITIZE OR ASSAY_FUZZ OR NOT ASSAY_HARDEN OR
   NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  return()
endif()
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)  # CMAKE_POSITION_INDEPENDENT_CODE compiles so; this links so

target_compile_options(assay_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE
                       -D_FORTIFY_SOURCE=2)
check_cxx_compiler_flag(-fcf-protection ASSAY_HAS_CF_PROTECTION)  # x86 only
if(ASSAY_HAS_CF_PROTECTION)
  target_compile_options(assay_flags INTERFACE -fcf-protection)
endif()
# The place of the checkout is in no program: file names in CHECK begin with src/, so that what
# is packaged does not depend on it.
target_compile_options(assay_flags INTERFACE -fmacro-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=)
# A package's link leaves out what nothing calls: packaging/link.py.
target_compile_options(assay_flags INTERFACE -ffunction-sections -fdata-sections)
target_link_options(assay_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
