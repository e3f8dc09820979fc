// Package kit is what a worker in Go needs of netdyno, for modules of others: the
// contract with its state machine, the load, and the wires echo and stream. Its names
// are those of netdyno's own packages, so what these document holds here.
//
//	kit.Main("netdyno-worker-mine", mine{})
//
// README.md shows a whole worker. Which packages the names come from, and what each
// promises about goroutines: internal/contract (what crosses the contract),
// internal/work/load (transports, slots, when to send), internal/work/wire (ports and
// connections), internal/work/wire/flow (bytes of wires echo and stream).
package kit

import (
	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
	"netdyno/internal/work/worker"
)

// What crosses the worker contract.
type (
	// Info is what hello says of a transport.
	Info = contract.Transport
	// Option is what can be set on a transport.
	Option = contract.Option
	// Setup is what the bench asks of a worker.
	Setup = contract.Setup
	// Exchange is what an exchange carries.
	Exchange = contract.Exchange
	// Ready is what a worker says when the work can begin.
	Ready = contract.Ready
	// Counts is what a worker counts.
	Counts = contract.Counts
	// Role is server, client or both.
	Role = contract.Role
	// Delivery is how content reaches the application.
	Delivery = contract.Delivery
	// Feature is what a transport can do besides.
	Feature = contract.Feature
	// ErrorKind is why something failed.
	ErrorKind = contract.ErrorKind
)

// Levels of those.
const (
	RoleServer = contract.Server
	RoleClient = contract.Client
	RolePair   = contract.Pair

	DeliveryMessage = contract.DeliveryMessage
	DeliveryChunks  = contract.DeliveryChunks

	TypeInt      = contract.TypeInt
	TypeBool     = contract.TypeBool
	TypeBytes    = contract.TypeBytes
	TypeDuration = contract.TypeDuration
	TypeChoice   = contract.TypeChoice
	TypeText     = contract.TypeText

	FeatureTLS   = contract.FeatureTLS
	FeatureFresh = contract.FeatureFresh

	Unsupported = contract.Unsupported
	SetupFailed = contract.SetupFailed
	Peer        = contract.Peer
	Timeout     = contract.Timeout
	Invalid     = contract.Invalid
	Bug         = contract.Bug
)

// A transport and its ends, and the load that a client issues.
type (
	// Transport is a transport and its ends.
	Transport = load.Transport
	// Server is the end that answers.
	Server = load.Server
	// Client is the end that issues the load.
	Client = load.Client
	// Options is values by name.
	Options = load.Options
	// Load is what a client issues.
	Load = load.Load
	// Slot is room for one exchange in flight.
	Slot = load.Slot
	// Call is one exchange, by a call that blocks.
	Call = load.Call
)

// Connections and ports.
type (
	// Opener is what opens a connection.
	Opener = wire.Opener
	// Runner is what makes exchanges.
	Runner = wire.Runner
	// Route is from where to where a connection goes.
	Route = wire.Route
	// Dialer is what dials along routes.
	Dialer = wire.Dialer
	// Listeners is a server's ports.
	Listeners = wire.Listeners
)

// The bytes of wires echo and stream.
type (
	// Work is what exchanges of echo and stream carry.
	Work = flow.Work
	// Conn is one connection of them.
	Conn = flow.Conn
	// Served is what a server of them counts.
	Served = flow.Served
)

// Echo is the name of the wire; a transport of it that has StreamFeatures has wire
// stream too.
const Echo = flow.Echo

// Functions of the packages that the types come from.
var (
	Main    = worker.Main  // runs a worker until its stdin ends, and ends the process
	Failure = load.Failure // an error with the contract's kind
	Now     = load.Now     // the worker's clock in ns

	NewLoad       = load.New              // slots in shards, one for each loop
	NewLoadByCall = load.NewForGoroutines // slots of goroutines that block
	NewSlotRunner = load.NewSlotRunner    // makes exchanges by blocking calls
	Connect       = wire.Connect          // opens, verifies, runs and closes a client
	Each          = wire.Each             // opens connections, many at a time
	NewDialer     = wire.NewDialer        // dials each of a client's connections
	Listen        = wire.Listen           // a server's ports, open to the trial's clients alone
	NewWork       = flow.NewWork          // what an exchange of echo or stream carries
	NewFlowRunner = flow.NewRunner        // makes exchanges of echo and stream
	NewServed     = flow.NewServed        // what a server of them counts
	ServeFlow     = flow.Serve            // serves one connection of them

	StreamFeatures = flow.Features
)
