package bench

import (
	"net/http"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// drawnFeatures are those that no program of somebody else's has.
var drawnFeatures = []contract.Feature{contract.FeatureSizes, contract.FeatureArrivals, contract.FeatureGather, contract.FeatureMix, contract.FeatureTrace, contract.FeatureDeadline, contract.FeatureThink, contract.FeatureTimes, contract.FeatureMethods, contract.FeatureEvents, contract.FeatureStages, contract.FeatureResume}

// mixFeatures are what a client needs for its workload. Only a server that is not
// netdyno's has methods of its own.
func mixFeatures(w study.Work, server Offer) []contract.Feature {
	needed := MixFeatures(w.Load)
	if w.Events {
		needed = append(needed, contract.FeatureEvents)
	}
	if w.Stages {
		needed = append(needed, contract.FeatureStages)
	}
	if w.Resume {
		needed = append(needed, contract.FeatureResume)
	}
	if w.Load.Calls() && server.foreign() {
		needed = append(needed, contract.FeatureMethods)
	}
	return needed
}

// MixFeatures are what a client needs for a load's classes and recorded traffic, on any wire.
func MixFeatures(l contract.Load) (needed []contract.Feature) {
	if len(l.Classes) > 0 {
		needed = append(needed, contract.FeatureMix)
		if !l.OneSizeEach() {
			needed = append(needed, contract.FeatureSizes)
		}
	}
	if l.Deadlines() {
		needed = append(needed, contract.FeatureDeadline)
	}
	if l.GatherNs > 0 {
		needed = append(needed, contract.FeatureGather)
	}
	if l.Thinks() {
		needed = append(needed, contract.FeatureThink)
	}
	if l.Headed() {
		needed = append(needed, contract.FeatureHeaders)
	}
	switch t := l.Trace; {
	case t != nil && t.Times:
		needed = append(needed, contract.FeatureTimes)
	case t != nil:
		needed = append(needed, contract.FeatureTrace)
	}
	return needed
}

// withoutMix is the load that a server is told: it answers what it is asked.
func withoutMix(l contract.Load) contract.Load {
	l.Classes, l.Keys, l.Trace = nil, nil, nil
	l.DeadlineNs, l.ConnectNs, l.GatherNs, l.MaxErrors = 0, 0, 0, 0
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
	}
	return l
}
