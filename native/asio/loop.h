// The event loops of the asio worker: one io_context per thread.
//
// Layer: asio worker, bottom. A Loop is handed from the thread that builds it to
// the one that runs it, and back; post alone may be called by any thread.
#pragma once

#include <pthread.h>

#include <asio.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "kit/contract.h"

namespace netdyno::asio_worker {

using Tcp = ::asio::ip::tcp;
/// A socket that knows its executor's type: asio's default one erases it, and
/// pays for that in every operation.
using Socket = ::asio::basic_stream_socket<Tcp, ::asio::io_context::executor_type>;

using Timer =
    ::asio::basic_waitable_timer<std::chrono::steady_clock, ::asio::wait_traits<std::chrono::steady_clock>,
                                 ::asio::io_context::executor_type>;

/// The address of a setup as asio wants it; throws Failure{setup} naming key.
inline ::asio::ip::address to_ip(const std::string& host, const std::string& key) {
  std::error_code error;
  const auto address = ::asio::ip::make_address(host, error);
  if (error) {
    throw contract::Failure(contract::ErrorKind::setup,
                            "read " + key + ": expected an IP address, found \"" + host + "\"");
  }
  return address;
}

/// Runs each body on a thread of its own and waits for all. When one throws,
/// abort is called once, so that the others end too; its exception is thrown on.
inline void run_all(const std::vector<std::function<void()>>& bodies, const std::function<void()>& abort) {
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < bodies.size(); i++) {
    threads.emplace_back([&, i] {
      pthread_setname_np(pthread_self(), ("loop " + std::to_string(i)).c_str());
      try {
        bodies[i]();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (first) return;
        first = std::current_exception();
        abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace netdyno::asio_worker
