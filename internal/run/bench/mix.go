package bench

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// drawnFeatures are those that no program of somebody else's has.
var drawnFeatures = []contract.Feature{contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureMix, contract.FeatureTrace, contract.FeatureDeadline, contract.FeatureThink, contract.FeatureTimes, contract.FeatureMethods, contract.FeatureMessages, contract.FeatureStreams}

// mixFeatures are what a client needs for its workload. Only a server that is not
// netdyno's has methods of its own.
func mixFeatures(w study.Work, server Offer) (needed []contract.Feature) {
	if len(w.Load.Classes) > 0 {
		needed = append(needed, contract.FeatureMix)
	}
	if w.Load.Deadlines() {
		needed = append(needed, contract.FeatureDeadline)
	}
	if w.Load.Thinks() {
		needed = append(needed, contract.FeatureThink)
	}
	if w.Load.Calls() && server.foreign() {
		needed = append(needed, contract.FeatureMethods)
	}
	needed = append(needed, toldFeatures(w.Load)...)
	switch t := w.Load.Trace; {
	case t != nil && t.Times:
		needed = append(needed, contract.FeatureTimes)
	case t != nil:
		needed = append(needed, contract.FeatureTrace)
	}
	return needed
}

// toldFeatures are what both ends need for classes that say how their messages are encoded,
// or that they travel in chunks.
func toldFeatures(l contract.Load) (needed []contract.Feature) {
	if l.Encodes() {
		needed = append(needed, contract.FeatureMessages)
	}
	if l.Streams() {
		needed = append(needed, contract.FeatureStreams)
	}
	return needed
}

// tells reports why a server cannot be told of which class a request is; nil where it can,
// or need not.
func tells(w study.Work, server Offer) error {
	needed := toldFeatures(w.Load)
	switch wire := wireOf(server, w); {
	case len(needed) == 0:
		return nil
	case server.foreign():
		return errors.New("a class of the workload has a codec, a message or a stream, which a server of somebody else's does not know; give the class a body, and its method or path")
	case wire == echo || wire == quic || wire == stream:
		return fmt.Errorf("a class of the workload has a codec, a message or a stream, and wire %s has no header by which its server could know which class a request is of; expected a wire of HTTP or gRPC", wire)
	}
	for _, c := range w.Load.Classes {
		if !server.carries(c.Codec) {
			return fmt.Errorf("class %s: transport %s carries codec %s, not %s", c.Name, server.Name, strings.Join(server.codecs(), ", "), c.Codec)
		}
	}
	return has(server, false, needed)
}

// offerFor is the program that has a trial's codec, or the first that one of its classes has
// where any program does.
func (c *Catalog) offerFor(name string, w study.Work) (Offer, error) {
	for _, class := range w.Load.Classes {
		if class.Codec == "" {
			continue
		}
		if of, err := c.Offer(name, class.Codec); err == nil {
			return of, nil
		}
	}
	return c.Offer(name, w.Exchange.Codec)
}

// withoutMix is the load that a server is told: it answers what it is asked, and knows
// classes only where they say what their messages are.
func withoutMix(l contract.Load) contract.Load {
	if !l.Encodes() && !l.Streams() {
		l.Classes = nil
	}
	l.Classes = slices.Clone(l.Classes)
	for i := range l.Classes { // what clients alone do
		c := &l.Classes[i]
		c.Method, c.Path, c.Status, c.DeadlineNs, c.ThinkNs = "", "", 0, 0, 0
	}
	l.Keys, l.Trace = nil, nil
	if l.Arrival == contract.Recorded {
		l.Arrival = contract.Constant
	}
	return l
}

// partOf makes a load that of client i of several on a host: of recorded traffic every
// client replays its part.
func (t *trial) partOf(setup *contract.Setup, i int, host rig.Host) {
	l := &setup.Load
	if !t.serverEnd.foreign() {
		l.Classes = ofOurServers(l.Classes)
	}
	if l.Trace == nil {
		return
	}
	trace := *l.Trace
	trace.Part, trace.Parts = i, len(t.clients)
	if there := host.Files[trace.File]; there != "" {
		trace.File = there
	}
	trace.Even = wireOf(t.clientEnd, t.work) == echo && !trace.Times
	l.Trace, l.Rate = &trace, t.work.Load.Rate/float64(len(t.clients))
}

// ofOurServers are classes as servers of netdyno's take them: they answer 200 to GET and
// POST.
func ofOurServers(classes []contract.Class) []contract.Class {
	classes = slices.Clone(classes)
	for i := range classes {
		c := &classes[i]
		if c.Status = 0; c.Method != http.MethodGet && c.Method != http.MethodPost {
			c.Method = ""
		}
	}
	return classes
}

// even is the exchange of recorded traffic on wire echo: its larger size goes both ways,
// and is at least 1 byte.
func even(x contract.Exchange) contract.Exchange {
	table, most := x.DownSizes, max(1, x.UpBytes, x.DownBytes)
	if x.UpSizes.Mean() > x.DownSizes.Mean() {
		table = x.UpSizes
	}
	table = slices.Clone(table)
	for i := range table {
		table[i][1], table[i][2] = max(1, table[i][1]), max(1, table[i][2])
	}
	if n := len(table); n > 0 {
		table[n-1][2] = most
	}
	x.UpBytes, x.DownBytes, x.UpSizes, x.DownSizes = most, most, table, table
	x.UpMeanBytes, x.DownMeanBytes = table.Mean(), table.Mean()
	return x
}

// withoutTables leaves out of a load what a record does not keep.
func withoutTables(l contract.Load) contract.Load {
	l.Classes, l.Keys = slices.Clone(l.Classes), nil
	for i := range l.Classes {
		c := &l.Classes[i]
		c.UpSizes, c.DownSizes = nil, nil
		if c.Message != nil {
			c.Message = &contract.Structure{Name: c.Message.Name}
		}
	}
	return l
}
