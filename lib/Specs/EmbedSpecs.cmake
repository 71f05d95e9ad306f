# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the specs named in the file LIST, one path a line, to OUTPUT: a line
#
#   LARC_BUILTIN_SPEC("name", "name.mlir", R"larc(text)larc")
#
# for each, sorted by name. Run with cmake -DLIST=... -DOUTPUT=... -P.

file(STRINGS ${LIST} specs)
list(SORT specs COMPARE STRING)
set(text "")
foreach(spec IN LISTS specs)
  get_filename_component(name ${spec} NAME_WE)
  file(READ ${spec} source)
  # The name of the file is the name of the spec, so that it can be listed
  # without parsing it.
  string(REGEX MATCHALL "larc\\.recurrence @[A-Za-z0-9_]+" found "${source}")
  if(NOT found STREQUAL "larc.recurrence @${name}")
    message(FATAL_ERROR
      "${spec}: expected one recurrence, '@${name}', found '${found}'")
  endif()
  string(APPEND text
    "LARC_BUILTIN_SPEC(\"${name}\", \"${name}.mlir\",\nR\"larc(${source})larc\")\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
