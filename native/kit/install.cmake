# The kit as a package of its own, which a project outside of this tree finds:
#
#   cmake --install build/native --component kit --prefix PREFIX
#   find_package(netdyno-kit REQUIRED)    target_link_libraries(… netdyno::kit)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# Sources say #include "kit/ends.h", here and there.
target_include_directories(kit INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/netdyno>)
target_compile_features(kit INTERFACE cxx_std_20)

# A plain install is of the workers alone.
install(TARGETS kit EXPORT netdyno-kit ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT kit EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netdyno/kit
  COMPONENT kit EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.h")
install(EXPORT netdyno-kit NAMESPACE netdyno:: FILE netdyno-kit-targets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/netdyno-kit COMPONENT kit EXCLUDE_FROM_ALL)
# Version 0: a minor version may change what workers call.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/netdyno-kit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/netdyno-kit-config.cmake ${CMAKE_BINARY_DIR}/netdyno-kit-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/netdyno-kit COMPONENT kit EXCLUDE_FROM_ALL)
