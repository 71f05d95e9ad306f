# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Portable tools: for each tool NAME a target NAME-portable, which `all` does not
# build. It links the same objects with the component archives of MLIR and LLVM
# in place of their shared libraries, and needs nothing but glibc where it runs.
#
# Archives are linked as files and not as targets. What LLVM's targets ask for
# beyond themselves (libz3, libxml2, libffi, libedit and libcurl, as shared
# libraries) serves parts of LLVM that larc does not use, and a linker takes from
# an archive only the members that something refers to. zlib and zstd alone are
# in use, by what compresses sections of objects. Should larc come to use another
# such part, the link fails; no library is missed only where a tool runs.
#
# Of LLVM's back ends only this machine's and NVPTX are linked: a portable tool
# is for compiling where it runs, and the others would be more than half of it.
# tools/portable has what stands for them, and for extensions such as Polly.

include_guard()

# All portable tools.
add_custom_target(larc-portable-tools)

# The back ends that are left out.
set(LARC_PORTABLE_OTHER_TARGETS ${LLVM_TARGETS_TO_BUILD})
list(REMOVE_ITEM LARC_PORTABLE_OTHER_TARGETS ${LLVM_NATIVE_ARCH} NVPTX)

# Sets `archives` in the caller to the files that portable tools link beside
# larc's own libraries, and `missing` to the names of those that are not there.
function(_larc_find_portable_archives)
  set(archives "")
  set(missing "")
  get_property(components GLOBAL PROPERTY MLIR_ALL_LIBS)
  list(APPEND components ${LLVM_AVAILABLE_LIBS})
  list(FILTER components INCLUDE REGEX "^(MLIR|LLVM)")
  list(APPEND components lldELF lldCommon)
  foreach(target IN LISTS LARC_PORTABLE_OTHER_TARGETS)
    list(FILTER components EXCLUDE REGEX
      "^LLVM${target}(AsmParser|CodeGen|Desc|Disassembler|Info|TargetMCA|Utils)$")
  endforeach()
  foreach(component IN LISTS components)
    if(TARGET ${component})
      get_target_property(type ${component} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND archives $<TARGET_FILE:${component}>)
      endif()
    endif()
  endforeach()
  foreach(component MLIRIR LLVMSupport lldELF)
    if(NOT TARGET ${component})
      list(APPEND missing lib${component}.a)
    endif()
  endforeach()

  set(others "")
  if(LLVM_ENABLE_ZLIB)
    list(APPEND others z)
  endif()
  if(LLVM_ENABLE_ZSTD)
    list(APPEND others zstd)
  endif()
  foreach(name IN LISTS others)
    find_library(LARC_ARCHIVE_${name} lib${name}.a HINTS ${LLVM_LIBRARY_DIR})
    mark_as_advanced(LARC_ARCHIVE_${name})
    if(LARC_ARCHIVE_${name})
      list(APPEND archives ${LARC_ARCHIVE_${name}})
    else()
      list(APPEND missing lib${name}.a)
    endif()
  endforeach()
  set(archives ${archives} PARENT_SCOPE)
  set(missing ${missing} PARENT_SCOPE)
endfunction()

# Declares NAME-portable, of the objects of the tool NAME and all of larc's
# libraries; the file is portable/NAME in the build tree, stripped. Where an
# archive is missing, building the target is an error that says which.
function(add_larc_portable_tool name)
  set(portable ${name}-portable)
  _larc_find_portable_archives()
  if(missing)
    list(JOIN missing ", " missing)
    add_custom_target(${portable}
      COMMAND ${CMAKE_COMMAND} -E echo
        "error: ${portable} links ${missing}: install what is missing and configure again"
      COMMAND ${CMAKE_COMMAND} -E false
      VERBATIM)
    add_dependencies(larc-portable-tools ${portable})
    return()
  endif()

  get_property(larc_libs GLOBAL PROPERTY LARC_LIBS)
  list(TRANSFORM larc_libs REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  add_executable(${portable} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
  set_target_properties(${portable} PROPERTIES
    LINKER_LANGUAGE CXX
    OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable)
  target_link_libraries(${portable} PRIVATE
    -Wl,--start-group ${larc_libs} ${archives} LARCLeftOut -Wl,--end-group
    ${CMAKE_DL_LIBS} Threads::Threads)
  target_link_options(${portable} PRIVATE
    -static-libstdc++ -static-libgcc
    LINKER:--as-needed LINKER:--build-id LINKER:--gc-sections
    LINKER:--strip-all)
  add_dependencies(larc-portable-tools ${portable})
endfunction()
