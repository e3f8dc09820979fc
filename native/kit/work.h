// The work of one trial: sizes, content, and a flow for each end of each connection.
//
// Layer: above flow, pipeline, echo, stream. Immutable after construction: any
// thread may use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/load.h"

namespace netdyno {

/// A first exchange failed, and may be made again: the server asked to come later, or said
/// that it did not look at the request.
class Deferred : public contract::Failure {
 public:
  using Failure::Failure;
};

/// The work of one wire. The kit has echo and stream. A worker may bring another.
class Work {
 public:
  /// The work of wire stream if the setup's exchange streams, else of wire echo. Throws
  /// Failure{setup} for an exchange that the wire does not allow, and
  /// Failure{unsupported} for one that this kit does not support.
  static std::unique_ptr<const Work> of(const contract::Setup& setup);
  /// The work of a library that moves whole messages: that of wire stream, whose chunks
  /// are the messages (kit/messages.h). Throws as of does.
  static std::unique_ptr<const Work> of_messages(const contract::Setup& setup);
  virtual ~Work() = default;

  /// Which connection of a client it is, and whose slots it carries. What this names outlives
  /// the connection's flow.
  struct Place {
    std::int64_t connection;  // among all of the client's
    std::uint32_t number;     // in its loop's numbering
    std::span<Slot> slots;
    Agenda& agenda;
  };
  /// The client's flow of one connection. This object outlives the flow.
  virtual std::unique_ptr<Flow> client(const Place& place) const = 0;
  /// The server's flow of one connection. It counts in traffic. buffer is the most that
  /// one read takes, in bytes. Flow::received throws Failure{invalid} when the content
  /// of the first exchange is wrong; drop the connection then and keep serving the
  /// others. traffic and this object outlive the flow.
  virtual std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const = 0;

  /// Bytes of an exchange's messages, where a codec decides them.
  struct Sizes {
    std::int64_t up;
    std::int64_t down;
  };
  virtual std::optional<Sizes> encoded() const { return std::nullopt; }
  /// By which names exchanges are told apart, where a client asks for several paths in turn.
  virtual std::vector<std::string> paths() const { return {}; }

  /// After which losses a connection's first exchange is made again on another connection,
  /// and whether after Deferred: with another's server, which may start late or be busy.
  enum class Repeats {
    none,     // never
    refused,  // where no connection was made, and after Deferred
    lost,     // where a connection was lost, too: the request does the same twice
  };
  virtual Repeats repeats() const { return Repeats::none; }
  /// The waits before that, in ms, as the clients in Go have them.
  static constexpr std::array<std::int64_t, 5> kRepeatMs = {50, 100, 200, 400, 800};

  /// A flow that makes the one verified exchange of a client's connection (specification
  /// §1.3). verified() is true once it is complete; the end of the connection may
  /// complete it (Flow::ended). Both throw Failure where it failed; who connects adds the
  /// connection's name to the text.
  class Verification : public Flow {
   public:
    /// Where setup asks for events, called now and then with Agenda::kWatch while the reply goes on.
    void send(std::uint32_t) override {}
    bool ended(std::int64_t) override { return false; }
    void abandon(contract::ErrorKind, std::int64_t) override {}
    virtual bool verified() const = 0;
    /// Whether its request went out, at least in part.
    virtual bool asked() const = 0;
    /// Bytes of the reply received so far.
    virtual std::int64_t arrived() const = 0;
  };
  virtual std::unique_ptr<Verification> verification(std::int64_t connection) const = 0;
};

}  // namespace netdyno
