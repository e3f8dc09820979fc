# find_package(netdyno-kit) gives target netdyno::kit.
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json)
find_dependency(ZLIB)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/netdyno-kit-targets.cmake)
