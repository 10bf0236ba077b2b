/* nc_close writes the last block of a file and ignores that it cannot; nc_sync before it reports that. */
#include "worker/checkpoint/inside.h"

#include <netcdf.h>

int written_close(int file)
{
    int synced = nc_sync(file), closed = nc_close(file);

    return synced == NC_NOERR ? closed : synced;
}
