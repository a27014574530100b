/* errors.c - words for errors: our own where those of the system would lead
 * astray, since they speak of files and devices. */
#include "lawn_store.h"

#include <errno.h>
#include <string.h>

/* No system has an errno beyond that. */
#define LAWN_STORE_ERRNO_MAX 9999

const char *
lawn_store_strerror(int error)
{
    switch (error) {
    case 0:
        return "no error";
    case LAWN_STORE_NOT_A_SNAPSHOT:
        return "not a snapshot";
    case LAWN_STORE_TOO_NEW:
        return "the snapshot is of a newer version";
    case LAWN_STORE_TRUNCATED:
        return "the snapshot ends too early";
    case LAWN_STORE_DAMAGED:
        return "the snapshot is damaged: a checksum is wrong";
    case LAWN_STORE_NONSENSE:
        return "the snapshot makes no sense, though its checksums are right";
    case LAWN_STORE_TRAILING:
        return "the file goes on after the end of the snapshot";
    case -EEXIST:
        return "there is a timer of this id already";
    case -ENOENT:
        return "no such timer, file or folder";
    case -EINVAL:
        return "an id or payload is too large, flags make no sense, or the "
               "path is no file";
    case -ENOTEMPTY:
        return "the store holds timers";
    case -ENOSPC:
        return "a limit of the store is reached, or the disk is full";
    default:
        return error > 0 || error < -LAWN_STORE_ERRNO_MAX ? "unknown error"
                                                          : strerror(-error);
    }
}
