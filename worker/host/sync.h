#ifndef NORMSWEEP_WORKER_HOST_SYNC_H
#define NORMSWEEP_WORKER_HOST_SYNC_H

/* Waits until the contents of a file are on the disk. 0 or an errno. */
int sync_file(const char *path);

/* The same for the names in a folder. 0 also if the file system does not support it. */
int sync_folder(const char *path);

#endif
