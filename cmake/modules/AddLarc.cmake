# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The functions with which larc's libraries, tools and tests are declared. All
# of them link MLIR and LLVM as shared libraries only (portable tools aside, see
# LarcPortable); a static MLIR component must never be named in LINK_LIBS.

include_guard()
include(CMakePackageConfigHelpers)
include(LarcPortable)

# Flags and definitions that every larc target shares.
function(_larc_configure_target name)
  llvm_update_compile_flags(${name})
  target_compile_definitions(${name} PRIVATE
    LARC_VERSION_STRING="${PROJECT_VERSION}")
  add_dependencies(${name} larc-headers)
endfunction()

# Declares a static library that is collected in the global property LARC_LIBS,
# installed and exported.
#
#   add_larc_library(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...])
function(add_larc_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  list(REMOVE_ITEM ARG_LINK_LIBS PUBLIC PRIVATE INTERFACE)
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(larc::${name} ALIAS ${name})
  _larc_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY LARC_LIBS ${name})
  install(TARGETS ${name} EXPORT LARCTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT larc-libraries)
endfunction()

# As add_larc_library, for a dialect and its passes; the name is collected in
# LARC_DIALECT_LIBS as well, which larc-opt and larc-lsp-server link.
function(add_larc_dialect_library name)
  add_larc_library(${ARGV})
  set_property(GLOBAL APPEND PROPERTY LARC_DIALECT_LIBS ${name})
endfunction()

# As add_larc_dialect_library, for a conversion between dialects.
function(add_larc_conversion_library name)
  add_larc_dialect_library(${ARGV})
endfunction()

# Declares an installed executable, and its portable twin NAME-portable.
#
#   add_larc_tool(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...])
function(add_larc_tool name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  list(REMOVE_ITEM ARG_LINK_LIBS PUBLIC PRIVATE INTERFACE)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _larc_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY LARC_TOOLS ${name})
  install(TARGETS ${name}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT larc-tools)
  add_larc_portable_tool(${name})
endfunction()

# Declares a GoogleTest executable, whose name must end in `Tests` because lit
# finds it by that. It is put in the same folder below the build tree as its
# sources have below the source tree (test/Unit/...), and is not installed.
#
#   add_larc_unittest(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...])
function(add_larc_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "the name of unit test '${name}' must end in 'Tests'")
  endif()
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  list(REMOVE_ITEM ARG_LINK_LIBS PUBLIC PRIVATE INTERFACE)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _larc_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PRIVATE
    ${ARG_LINK_LIBS} MLIR LLVM GTest::gtest GTest::gtest_main)
  # Where tests find their input files.
  target_compile_definitions(${name} PRIVATE
    LARC_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/test/Data")
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_dependencies(LarcUnitTests ${name})
endfunction()

# Declares a libFuzzer executable; nothing unless LARC_BUILD_FUZZERS is on.
#
#   add_larc_fuzzer(NAME sources... [DEPENDS targets...] [LINK_LIBS libs...])
function(add_larc_fuzzer name)
  if(NOT LARC_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  list(REMOVE_ITEM ARG_LINK_LIBS PUBLIC PRIVATE INTERFACE)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _larc_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(larc-fuzzers ${name})
endfunction()

# Installs headers, generated headers and the CMake package, so that
# `find_package(larc)` works from the build tree and from the install tree.
function(larc_install_package)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/larc
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT larc-headers
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/larc
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT larc-headers
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/larc COMPONENT larc-headers)

  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/larc)
  get_property(LARC_EXPORTED_LIBS GLOBAL PROPERTY LARC_LIBS)
  set(staging ${PROJECT_BINARY_DIR}/cmake/install)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/modules/larcConfig.cmake.in
    ${staging}/larcConfig.cmake
    INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(
    ${staging}/larcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(
    FILES ${staging}/larcConfig.cmake ${staging}/larcConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT larc-cmake)

  # The build tree's own package, in build/lib/cmake/larc.
  set(build_package_dir ${PROJECT_BINARY_DIR}/lib/cmake/larc)
  file(COPY ${staging}/larcConfig.cmake ${staging}/larcConfigVersion.cmake
    DESTINATION ${build_package_dir})

  if(LARC_EXPORTED_LIBS)
    install(EXPORT LARCTargets NAMESPACE larc::
      DESTINATION ${package_dir} COMPONENT larc-cmake)
    export(EXPORT LARCTargets NAMESPACE larc::
      FILE ${build_package_dir}/LARCTargets.cmake)
  endif()
endfunction()
