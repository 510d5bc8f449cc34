/* The functions that these tests use: the same in both interfaces. */
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy);
int MPI_Comm_free(MPI_Comm *comm);
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Sendrecv(const void *out, int count, MPI_Datatype type, int to, int tag, void *in, int room,
                 MPI_Datatype of, int from, int with, MPI_Comm comm, MPI_Status *status);
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count);
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Initialized(int *flag);
int MPI_Is_thread_main(int *flag);
int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file);
int MPI_File_write_at(MPI_File file, MPI_Offset at, const void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_write_shared(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_write_ordered(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_read_at(MPI_File file, MPI_Offset at, void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *buffer, int count, MPI_Datatype type, MPI_Status *status);
int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype, const char *how, MPI_Info hints);
int MPI_File_set_size(MPI_File file, MPI_Offset to);
int MPI_File_get_size(MPI_File file, MPI_Offset *size);
int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence);
int MPI_File_get_position(MPI_File file, MPI_Offset *offset);
int MPI_File_get_position_shared(MPI_File file, MPI_Offset *offset);
int MPI_File_close(MPI_File *file);
int MPI_File_delete(const char *name, MPI_Info hints);
double MPI_Wtime(void);
#ifdef __cplusplus
}
#endif
