# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes OUTPUT, arrays of the bytes of HEADER and of each of OBJECTS (a list
# with the separator `|`).

string(REPLACE "|" ";" OBJECTS "${OBJECTS}")

function(embed name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(APPEND ${OUTPUT} "static const unsigned char ${name}[] = {\n${bytes}};\n")
endfunction()

file(WRITE ${OUTPUT} "")
embed(header ${HEADER})
set(number 0)
set(texts "")
foreach(object IN LISTS OBJECTS)
  embed(object${number} ${object})
  string(APPEND texts "makeText(object${number}), ")
  math(EXPR number "${number} + 1")
endforeach()
file(APPEND ${OUTPUT} "#define LARC_RUNTIME_OBJECTS ${texts}\n")
