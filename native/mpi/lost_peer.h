// What a rank does when the library ends the process because the other rank is gone.
//
// The bench takes a server that ends for the cause of what its clients say, and names it
// in the record. MPI's libraries abort when a peer is lost, so that a killed client
// would be recorded as a server that failed. A server whose client is gone therefore
// stays for as long as the bench needs to name the client.
//
// Layer: bottom. Any thread; safe in a signal handler.
#pragma once

namespace netdyno::mpi_worker {

/// From now on, a SIGABRT of this process first calls let_client_be_named. control is a
/// socket to the client that stays open until the process ends.
void watch_client(int control);

/// Returns at once if watch_client was not called or the client is there; otherwise
/// after 3 s.
void let_client_be_named();

}  // namespace netdyno::mpi_worker
