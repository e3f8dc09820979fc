// PMI-1's interface in C, which Open MPI calls: its component for the Flux resource
// manager loads a library of that interface, and we name this program itself.
// Linked into the worker on Open MPI alone; MPICH has its own client.
//
// The names and numbers are PMI's own (pmi.h of MPICH), so that they follow none of
// this project's rules.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "kit/contract.h"
#include "mpi/environment.h"
#include "mpi/pmi.h"

namespace {

using netdyno::mpi_worker::PmiClient;

constexpr int kSuccess = 0;  // PMI_SUCCESS
constexpr int kFail = -1;    // PMI_FAIL

std::unique_ptr<PmiClient>& client() {
  static std::unique_ptr<PmiClient> one;
  return one;
}

/// Asks something of the server; a failure is told on stderr, as the library only
/// passes on that there was one.
template <class Question>
int ask(Question question) {
  if (!client()) return kFail;
  try {
    return question(*client());
  } catch (const netdyno::contract::Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return kFail;
  }
}

int give(int* out, int value) {
  *out = value;
  return kSuccess;
}

int give(char* out, int size, const std::string& text) {
  if (size < 0 || text.size() >= static_cast<std::size_t>(size)) return kFail;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return kSuccess;
}

int environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : std::atoi(text);
}

}  // namespace

extern "C" {

int PMI_Initialized(int* initialized) { return give(initialized, client() ? 1 : 0); }

int PMI_Init(int* spawned) {
  *spawned = 0;
  client() = std::make_unique<PmiClient>(environment("PMI_FD"), environment("PMI_RANK"));
  return ask([](PmiClient& pmi) {
    pmi.init();
    return kSuccess;
  });
}

int PMI_Finalize() {
  const int code = ask([](PmiClient& pmi) {
    pmi.finalize();
    return kSuccess;
  });
  client().reset();
  return code;
}

int PMI_Abort(int, const char message[]) {
  std::fprintf(stderr, "Open MPI aborts: %.500s\n", message == nullptr ? "it does not say why" : message);
  netdyno::mpi_worker::remove_directory();
  netdyno::mpi_worker::let_client_be_named();
  std::_Exit(1);
}

int PMI_Get_rank(int* rank) {
  return ask([rank](const PmiClient& pmi) { return give(rank, pmi.rank()); });
}
int PMI_Get_size(int* size) { return give(size, netdyno::mpi_worker::kRanks); }
int PMI_Get_universe_size(int* size) { return give(size, netdyno::mpi_worker::kRanks); }
int PMI_Get_appnum(int* number) { return give(number, 0); }

int PMI_Get_clique_size(int* size) {
  return ask([size](PmiClient& pmi) { return give(size, pmi.one_node() ? netdyno::mpi_worker::kRanks : 1); });
}

int PMI_Get_clique_ranks(int ranks[], int length) {
  return ask([ranks, length](PmiClient& pmi) {
    if (length == 1) return give(ranks, pmi.rank());
    for (int rank = 0; rank < length && rank < netdyno::mpi_worker::kRanks; rank++) ranks[rank] = rank;
    return kSuccess;
  });
}

int PMI_Barrier() {
  return ask([](PmiClient& pmi) {
    pmi.barrier();
    return kSuccess;
  });
}

int PMI_KVS_Get_my_name(char name[], int size) {
  return ask([name, size](PmiClient& pmi) { return give(name, size, pmi.space()); });
}
int PMI_KVS_Get_name_length_max(int* length) {
  return give(length, static_cast<int>(netdyno::mpi_worker::kMaxPmiKey));
}
int PMI_KVS_Get_key_length_max(int* length) {
  return give(length, static_cast<int>(netdyno::mpi_worker::kMaxPmiKey));
}
int PMI_KVS_Get_value_length_max(int* length) {
  return give(length, static_cast<int>(netdyno::mpi_worker::kMaxPmiValue));
}

int PMI_KVS_Put(const char[], const char key[], const char value[]) {
  return ask([key, value](PmiClient& pmi) {
    pmi.put(key, value);
    return kSuccess;
  });
}
int PMI_KVS_Commit(const char[]) { return kSuccess; }

int PMI_KVS_Get(const char[], const char key[], char value[], int length) {
  return ask([key, value, length](PmiClient& pmi) {
    std::string text;
    return pmi.get(key, text) ? give(value, length, text) : kFail;
  });
}

}  // extern "C"
