// What one trial asks of its connections: their sizes, their content, and a flow
// for each end of each connection.
//
// Layer: above flow, pipeline, echo, stream. Immutable after construction: any
// thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/load.h"
#include "kit/serving.h"

namespace netdyno {

/// The work of one wire. The kit has echo and stream; another worker may bring its own.
class Work {
 public:
  /// The work of wire echo, or of wire stream when the setup's exchange streams.
  /// Throws Failure{setup} for an exchange that the wire cannot have,
  /// Failure{unsupported} for one that this kit cannot.
  static std::unique_ptr<const Work> of(const contract::Setup& setup);
  virtual ~Work() = default;

  /// A client's end of one connection; number is the connection's in the loop's
  /// numbering. The agenda, the slots and this outlive the flow.
  virtual std::unique_ptr<Flow> client(std::uint32_t number, std::span<Slot> slots, Agenda& agenda) const = 0;
  /// A server's end of one connection; it counts in traffic. buffer is what one read takes
  /// at most. received throws Failure{invalid} when the first exchange's content
  /// is not what had to come; the connection is then dropped, the server serves
  /// on. traffic and this outlive the flow.
  virtual std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const = 0;

  /// A flow that makes the one verified exchange of a client's connection
  /// (METHOD §1.3): verified() once it is complete; received throws
  /// Failure{invalid} that names the connection when the content is not what
  /// had to come.
  class Trial : public Flow {
   public:
    virtual bool verified() const = 0;
    /// Bytes of what has to come that did.
    virtual std::int64_t arrived() const = 0;
  };
  virtual std::unique_ptr<Trial> trial(std::int64_t connection) const = 0;
};

}  // namespace netdyno
