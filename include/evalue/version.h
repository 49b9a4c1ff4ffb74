/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The version of the library and of the wire format that it speaks.
 *
 *     printf("libevalue %s\n", evalue_version());
 */
#ifndef EVALUE_VERSION_H
#define EVALUE_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks a name that the shared library exports. */
#if defined(__GNUC__)
#define EVALUE_API __attribute__((visibility("default")))
#else
#define EVALUE_API
#endif

/** The library's version. The number in the soname is the major version. */
#define EVALUE_VERSION_MAJOR 0
#define EVALUE_VERSION_MINOR 5
#define EVALUE_VERSION_PATCH 0
#define EVALUE_VERSION       "0.5.0"

/** The wire format that this library reads and writes (spec, section 11). */
#define EVALUE_WIRE_MAJOR 1
#define EVALUE_WIRE_MINOR 0

/** Returns the version of the library that the program runs with, like "0.5.0". The string is static. */
EVALUE_API const char *evalue_version(void);

#ifdef __cplusplus
}
#endif

#endif
