#include "kit/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <utility>

#include "kit/address.h"
#include "kit/options.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::vector<contract::Transport> describe(const std::vector<Transport*>& transports) {
  std::vector<contract::Transport> described;
  for (const Transport* transport : transports) described.push_back(transport->describe());
  return described;
}

/// Carries out setup, on the background thread.
Prepared prepare(Transport& transport, const contract::Setup& setup) {
  Prepared made;
  try {
    if (setup.role == contract::Role::server) {
      made.server = transport.server(setup);
    } else {
      const std::int64_t most = std::max<std::int64_t>(1, setup.load.connections);
      const std::int64_t shards = std::clamp<std::int64_t>(transport.shards(setup), 1, most);
      made.load = std::make_unique<Load>(setup, static_cast<int>(shards));
      made.client = transport.client(setup, *made.load);
    }
  } catch (...) {
    made.error = std::current_exception();
  }
  return made;
}

}  // namespace

Machine::Machine(const WorkerInfo& info, const std::vector<Transport*>& transports, Inbox& inbox, int out)
    : info_(info), transports_(transports), inbox_(inbox), out_(out), drain_deadline_ns_(kNever) {}

Machine::~Machine() {
  inbox_.close();
  if (end_.client) end_.client->close();
  if (background_.joinable()) background_.join();
}

int Machine::loop() {
  send(message(contract::Hello{info_.name, info_.version, info_.libraries, describe(transports_)}));
  next_tick_ns_ = now_ns() + kTickNs;
  while (!status_) {
    const std::int64_t part_ns = parts_.empty() ? kNever : parts_.front().due_ns;
    std::optional<Event> event = inbox_.take(std::min({next_tick_ns_, drain_deadline_ns_, part_ns}));
    try {
      if (event) handle(*event);
    } catch (...) {
      fail(std::current_exception());
    }
    const std::int64_t now = now_ns();
    if (now >= drain_deadline_ns_) {
      drain_deadline_ns_ = kNever;
      end_.client->close();
    }
    tell_parts(now);
    if (now >= next_tick_ns_) tick();
  }
  return *status_;
}

void Machine::handle(Event& event) {
  if (const auto* message = std::get_if<contract::Message>(&event)) {
    command(*message);
  } else if (const auto* bad = std::get_if<BadLine>(&event)) {
    send_error(bad->text);
  } else if (auto* prepared = std::get_if<Prepared>(&event)) {
    send_ready(*prepared);
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    finish(*finished);
  } else {
    status_ = 0;
  }
}

void Machine::command(const contract::Message& message) {
  try {
    if (message.name == "setup") return setup(message.body);
    if (message.name == "start") return start();
    if (message.name == "mark") return mark(message.body);
    if (message.name == "stop") return stop();
    send_error(message.name + " is not a command of the bench (CONTRACT.md, section Life)");
  } catch (const Failure& failure) {
    if (failure.kind() != ErrorKind::invalid) throw;
    send_error(failure.what());  // a field of the wrong type: only this line is bad
  }
}

void Machine::setup(const Json& body) {
  if (state_ != State::idle) {
    return send_error("setup came twice; a worker serves one trial (CONTRACT.md, section setup)");
  }
  setup_ = contract::parse_setup(body);
  const std::vector<contract::Transport> described = describe(transports_);
  const contract::Transport& found = find_transport(described, setup_);
  setup_.options = complete_options(found, setup_.role, setup_.options);
  Transport& transport = *transports_[static_cast<std::size_t>(&found - described.data())];
  state_ = State::preparing;
  in_background(std::thread([this, &transport] { inbox_.put(prepare(transport, setup_)); }));
}

void Machine::send_ready(Prepared& prepared) {
  end_ = std::move(prepared);
  if (end_.error) std::rethrow_exception(end_.error);
  const End& end = end_.client ? static_cast<const End&>(*end_.client) : *end_.server;
  contract::Ready ready = end.ready();
  if (ready.options.empty()) ready.options = setup_.options;
  state_ = State::ready;
  send(message(ready));
}

void Machine::start() {
  if (!at_ready()) return send_error("start came before ready (CONTRACT.md, section Life)");
  if (!end_.client)
    return send_error("start came to a server; it serves from ready on (CONTRACT.md, section start)");
  if (state_ != State::ready) return send_error("start came twice (CONTRACT.md, section start)");
  state_ = State::running;
  end_.load->start(now_ns());
  in_background(std::thread([this] {
    std::exception_ptr error;
    try {
      end_.client->run();
    } catch (...) {
      error = std::current_exception();
    }
    inbox_.put(Finished{now_ns(), error});
  }));
}

void Machine::mark(const Json& body) {
  const contract::Mark mark = contract::parse_mark(body);
  if (!at_ready()) return send_error("mark came before ready (CONTRACT.md, section Life)");
  const bool only_reads = mark.keep || !end_.load || (state_ == State::done && !mark.part);
  if (mark.part && !only_reads) end_.load->make_room();  // which takes its time
  const std::int64_t now = now_ns();
  contract::Counts at_mark = counts();
  if (!only_reads && (mark.reset || mark.part || end_.load->opened())) {
    const std::int64_t connections = at_mark.connections;
    if (mark.part) {
      end_.load->part(now);
      parts_.push_back({mark.id, now + Load::kSettlesNs});
    } else if (mark.reset) {
      end_.load->open(now);
    } else {
      end_.load->end(now);
      if (state_ == State::running) end_.client->ended();
    }
    at_mark = end_.load->snapshot();
    at_mark.connections = connections;
  }
  const contract::Reading reading{now, process_cpu_ns(), at_mark};
  send(message(mark, reading));
}

/// A server answers at once. A client answers when it has drained (finish), at the
/// latest when the drain time is over. After its result a worker answers no stop.
void Machine::stop() {
  if (!at_ready()) return send_error("stop came before ready (CONTRACT.md, section Life)");
  const std::int64_t now = now_ns();
  if (state_ == State::running) {
    state_ = State::draining;
    end_.load->end(now);
    end_.client->ended();
    drain_deadline_ns_ = now + std::min(setup_.load.drain_ns, kNever - now);
  } else if (state_ == State::ready) {
    tell_all_parts();
    state_ = State::done;
    contract::Result result = end_.load ? end_.load->result(now) : server_result();
    result.counts.connections = counts().connections;
    if (end_.load) result.sent = sent();
    send(message(result));
  }
}

/// Of a client that does not run.
contract::Sent Machine::sent() const {
  contract::Sent sent = end_.load->sent();
  const contract::Sent opened = end_.client->opened();
  sent.verify = opened.verify;
  sent.again += opened.again;
  return sent;
}

/// A client whose amount of exchanges is done ends by itself and closes its window.
void Machine::finish(const Finished& finished) {
  drain_deadline_ns_ = kNever;
  if (finished.error) {
    contract::telling([this] { return sent(); }, [&] { std::rethrow_exception(finished.error); });
  }
  tell_all_parts();
  state_ = State::done;
  contract::Result result = end_.load->result(finished.at_ns);
  result.counts.connections = end_.client->connections();
  result.counts.redialled = end_.client->redialled();
  result.sent = sent();
  send(message(result));
}

/// Tells of the windows that marks with part have closed, once they have settled.
void Machine::tell_parts(std::int64_t now) {
  constexpr std::int64_t kAgainNs = 1'000'000;
  while (!status_ && !parts_.empty() && parts_.front().due_ns <= now) {
    std::optional<contract::Result> result = end_.load->closed_part();
    if (!result) {
      parts_.front().due_ns = now + kAgainNs;
      return;
    }
    result->counts.connections = end_.client->connections();
    send(contract::part_message(parts_.front().id, *result));
    parts_.pop_front();
    end_.load->make_room();
  }
}

/// The same before the result, when nothing is counted any more.
void Machine::tell_all_parts() {
  for (; !status_ && !parts_.empty(); tell_parts(now_ns()))
    std::this_thread::sleep_for(
        std::chrono::nanoseconds(std::max<std::int64_t>(0, parts_.back().due_ns - now_ns())));
}

void Machine::tick() {
  const std::int64_t now = now_ns();
  // Ticks keep their rhythm. Missed ticks are left out.
  next_tick_ns_ += ((now - next_tick_ns_) / kTickNs + 1) * kTickNs;
  const bool counting =
      end_.server ? state_ == State::ready : state_ == State::running || state_ == State::draining;
  if (!counting) return;
  const bool telling = setup_.timeline && end_.load;
  send(contract::tick_message(now, counts(), telling ? end_.load->slice() : std::nullopt));
}

contract::Counts Machine::counts() const {
  if (end_.server) return end_.server->counts();
  contract::Counts counts = end_.load->counts();
  counts.connections = end_.client->connections();
  return counts;
}

/// A server's counts are sums since ready. The marks define its window.
contract::Result Machine::server_result() const {
  contract::Result result;
  result.counts = counts();
  return result;
}

void Machine::in_background(std::thread work) {
  if (background_.joinable()) background_.join();
  background_ = std::move(work);
}

void Machine::send_error(const std::string& text) { send(error_message(ErrorKind::invalid, text, false)); }

void Machine::fail(std::exception_ptr error) {
  status_ = 1;
  try {
    std::rethrow_exception(error);
  } catch (const Failure& failure) {
    send(error_message(failure.kind(), failure.what(), true, failure.sent()));
  } catch (const std::bad_alloc&) {
    // The trial needs more memory than this host has. The worker itself works.
    send(error_message(ErrorKind::setup, "out of memory: the system gives this process no more", true));
  } catch (const std::exception& other) {
    send(error_message(ErrorKind::bug, other.what(), true));
  }
}

/// A closed stdout means that the bench is gone, so the conversation ends.
void Machine::send(const Json& message) {
  std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t n = ::write(out_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      status_ = status_.value_or(1);
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace netdyno
