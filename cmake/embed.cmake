# cmake -DOUT=x.cc -DROOT=dir -DFILES=a,b,c -DROOM=sim -DHEADER=sim/catalogue.h
#       -DFUNCTION=embedded_catalogue -P embed.cmake: the files as raw string literals, in a
# function of the room that returns a vector of the header's EmbeddedFile.
string(REPLACE "," ";" FILES "${FILES}")
string(CONCAT text
  "// Written by cmake/embed.cmake. Do not edit.\n"
  "#include \"${HEADER}\"\n\nnamespace assay::${ROOM} {\n\n"
  "std::vector<EmbeddedFile> ${FUNCTION}() {\n  return {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} body)
  # Literals longer than 65,536 bytes are not portable, whether written as one or joined by the
  # compiler: pieces of 8,000 are joined when the function is called.
  string(LENGTH "${body}" length)
  set(at 0)
  string(APPEND text "      {\"${name}\", std::string()\n")
  while(at LESS length)
    string(SUBSTRING "${body}" ${at} 8000 piece)
    string(APPEND text "       + R\"__yaml__(${piece})__yaml__\"\n")
    math(EXPR at "${at}+8000")
  endwhile()
  string(APPEND text "      },\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace assay::${ROOM}\n")
file(WRITE ${OUT} "${text}")
