# cmake -DOUT=x.cc -DROOT=dir -DFILES=a,b,c -DHEADER=room/x.h -DSPACE=assay::room -DFUNCTION=name
#       -P embed_files.cmake
# Files of any bytes as one function that gives std::vector<EmbeddedFile>, {name, bytes}; the type
# is the header's. Names are relative to ROOT.
string(REPLACE "," ";" FILES "${FILES}")
set(data "")
set(table "")
set(number 0)
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR length "${length}/2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND data "constexpr char kFile${number}[] = {${bytes}0};\n")
  string(APPEND table "      {\"${name}\", {kFile${number}, ${length}}},\n")
  math(EXPR number "${number}+1")
endforeach()
file(WRITE ${OUT}
  "// Written by cmake/embed_files.cmake. Do not edit.\n#include \"${HEADER}\"\n\n"
  "namespace ${SPACE} {\nnamespace {\n${data}}  // namespace\n\n"
  "std::vector<EmbeddedFile> ${FUNCTION}() {\n  return {\n${table}  };\n}\n\n"
  "}  // namespace ${SPACE}\n")
