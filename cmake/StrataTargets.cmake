# One function for every library of the project, so that all share warnings, sanitizers and the include root.
# A folder's sources are found by pattern: adding a file needs no edit here.

add_library(strata_options INTERFACE)
target_include_directories(strata_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(strata_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12's std::stable_sort uses what it deprecates itself.
  target_compile_options(strata_options INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlapping or overlong copies inside std::string and std::vector that are not there (GCC bugs 105651, 105762).
  target_compile_options(strata_options INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(STRATA_SANITIZE)
  target_compile_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(strata_options INTERFACE -fsanitize=${STRATA_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Sanitizer instrumentation makes g++ 12 see uninitialised uses in the standard library that are not there.
    target_compile_options(strata_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(STRATA_STD_THREADS)
  target_compile_definitions(strata_options INTERFACE STRATA_STD_THREADS=1)
endif()
if(STRATA_FUZZ)
  target_compile_options(strata_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# strata_precompile(TARGET header...): heavy headers that nearly every source of a target includes anyway, read once.
# strata_precompile(TARGET REUSE_FROM OTHER): OTHER's, which has to be compiled with the same options.
function(strata_precompile target)
  cmake_parse_arguments(arg "" "REUSE_FROM" "" ${ARGN})
  if(arg_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_REUSE_FROM})
  endif()
  foreach(header ${arg_UNPARSED_ARGUMENTS})
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The first is for ccache. In precompiled headers g++ 12 forgets what is a system header, and warns of what is not there.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess> -Wno-array-bounds
                           -Wno-stringop-overread)
  endif()
endfunction()

# strata_library(NAME folder... LINK lib...): a static library of every .cpp and .c in the folders (not recursive).
function(strata_library name)
  cmake_parse_arguments(arg "" "" "FOLDERS;LINK" ${ARGN})
  set(sources)
  foreach(folder ${arg_FOLDERS})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c)
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC strata_options ${arg_LINK})
    strata_unity(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE strata_options ${arg_LINK})
  endif()
endfunction()
