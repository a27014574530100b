/* errors.c - descriptions of errors. Some texts of strerror() would mislead:
 * they refer to files and devices. */
#include "lawn_store.h"

#include <errno.h>
#include <string.h>

/* No system has a larger errno. */
#define LAWN_STORE_ERRNO_MAX 9999

const char *
lawn_store_strerror(int error)
{
    switch (error) {
    case 0:
        return "no error";
    case LAWN_STORE_NOT_A_SNAPSHOT:
        return "not a snapshot: bad magic number";
    case LAWN_STORE_TOO_NEW:
        return "snapshot version not supported: written by a newer library";
    case LAWN_STORE_TRUNCATED:
        return "truncated snapshot: unexpected end";
    case LAWN_STORE_DAMAGED:
        return "damaged snapshot: checksum mismatch";
    case LAWN_STORE_INCONSISTENT:
        return "invalid snapshot: valid checksums but inconsistent contents";
    case LAWN_STORE_TRAILING:
        return "invalid snapshot file: data after the end of the snapshot";
    case LAWN_STORE_ID_TOO_LARGE:
        return "id too large: more than 65535 bytes";
    case LAWN_STORE_PAYLOAD_TOO_LARGE:
        return "payload too large: more than 536870911 bytes";
    case LAWN_STORE_NOT_A_FILE:
        return "not a regular file";
    case LAWN_STORE_BAD_CLASS_NAME:
        return "invalid class name: not 1 to 64 bytes";
    case LAWN_STORE_CLASS_EXISTS:
        return "a class with this name exists";
    case LAWN_STORE_TOO_MANY_CLASSES:
        return "too many classes: limit of the store reached";
    case -EEXIST:
        return "a timer with this id exists";
    case -ENOENT:
        return "no such timer, file or directory";
    case -EINVAL:
        return "invalid flags";
    case -ENOTEMPTY:
        return "the store is not empty";
    case -ENOSPC:
        return "store limit reached, or no space left on device";
    default:
        return error > 0 || error < -LAWN_STORE_ERRNO_MAX ? "unknown error"
                                                          : strerror(-error);
    }
}
