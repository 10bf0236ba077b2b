#ifndef NORMSWEEP_WORKER_HOST_SYNC_H
#define NORMSWEEP_WORKER_HOST_SYNC_H

/* Waits until what was written to a file is on the disk. 0 or an errno. */
int sync_file(const char *path);

/* The same of a folder: of the names in it. A file system that knows no such thing has done so. */
int sync_folder(const char *path);

#endif
