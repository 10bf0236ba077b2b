#ifndef NORMSWEEP_WORKER_CHECKPOINT_WRITTEN_H
#define NORMSWEEP_WORKER_CHECKPOINT_WRITTEN_H

/*
 * Closes a netCDF file that this process has written. Returns a netCDF status, also of the last write:
 * nc_close ignores it if its last block, which it writes only then, does not fit on the disk. Datasets are
 * closed with it, too: of the two rooms that include netcdf.h, this one is below the other.
 */
int written_close(int file);

#endif
