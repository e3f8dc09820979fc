package trial

import (
	"fmt"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// FlowControl says that a library's own windows bounded what was in flight.
const FlowControl Limit = "flow-control"

var limitFlowControl = limitRule{FlowControl, flowControlled, meanFlowControl}

// flowFull is the share of window ÷ round trip from which a library's own
// window counts as the limit. Senders wait for updates that receivers give when
// a part of the window is read, so that the whole of it is never in flight
// (RFC 9113, section 5.2.2, leaves the moment to the receiver).
const flowFull = 0.6

// flowControlled proves that as much was in flight as the receiving library's
// windows allow, and that the load would have put more there. A window that the
// library chooses by itself is reported as 0, and nothing follows.
func flowControlled(e *audit) (of contract.Role, proof string) {
	for _, receiver := range []contract.Role{contract.Client, contract.Server} {
		rate, known := metric.Arriving(e.window, receiver)
		trip, timed := e.values[string(otherEnd(receiver))+"."+metric.TCPRTT]
		window, waiting := flowWindow(e, receiver)
		if !known || !timed || window == 0 || waiting <= window || !(trip > 0) {
			continue
		}
		rtt := quantity.Microseconds(trip)
		most := window / rtt.Seconds()
		if rate < flowFull*most {
			continue
		}
		return receiver, fmt.Sprintf("%s arrived at the %s, %s of what its library's windows, %s in all, allow at a round trip of %s; the load would have put %s in flight",
			quantity.FormatByteRate(rate), receiver, quantity.FormatShare(rate/most), quantity.FormatBytes(window), quantity.FormatDuration(rtt), quantity.FormatBytes(waiting))
	}
	return "", ""
}

// flowWindow sums, over the clients' connections, what the receiver's library
// lets be on the way to it, and what the load would have there, in bytes.
func flowWindow(e *audit, receiver contract.Role) (window, waiting float64) {
	perCall, perConnection := windows(e, receiver)
	if perCall == 0 {
		return 0, 0
	}
	for _, g := range e.generators {
		if g.Setup == nil {
			return 0, 0
		}
		up, down, _ := g.MeanSizes()
		load, size := g.Setup.Load, down
		if receiver == contract.Server {
			size = up
		}
		connections, calls := float64(load.Connections)*e.activeShare(), float64(load.InFlight)
		own := perCall * calls
		if perConnection > 0 {
			own = min(own, perConnection)
		}
		window += connections * own
		waiting += connections * calls * size
	}
	return window, waiting
}

// windows returns what workers of a role say of their library's windows, after
// defaults: of a call and of a connection, in bytes; 0 for one that it chooses.
func windows(e *audit, role contract.Role) (perCall, perConnection float64) {
	for _, w := range e.window.Record.Workers {
		if w.Role == role && w.Ready != nil {
			return bytesOption(w, "window"), bytesOption(w, "connection_window")
		}
	}
	return 0, 0
}

func bytesOption(w record.Worker, name string) float64 {
	value, err := strconv.ParseFloat(fmt.Sprint(w.Ready.Options[name]), 64)
	if err != nil {
		return 0 // it has no such option
	}
	return value
}

// What its name stands for in netdyno explain.
var meanFlowControl = Meaning{Called: "the library's windows", Means: "as much arrived as the windows of the library itself let through", Cure: "raise the library's windows, by the options that netdyno transports lists"}
