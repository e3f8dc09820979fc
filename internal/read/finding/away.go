package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// AboutServer is what warnings about a server that was not metered are about.
const AboutServer = "server"

// warnAway says what is missing of a server that was driven but not metered, and
// how to get it.
func warnAway(s *cells.Dataset, _ Findings) []record.Warning {
	return append(append(warnElsewhere(s), warnOnward(s)...), warnListening(s)...)
}

// warnElsewhere names the servers that ran before the run and of whose CPU and memory
// nothing is known, and says why.
func warnElsewhere(s *cells.Dataset) []record.Warning {
	var all []record.Warning
	for _, w := range s.Workers() {
		why := w.Unmetered()
		if why == "" {
			continue
		}
		missing := record.Warning{About: AboutServer, Text: fmt.Sprintf("the CPU and memory of the server on %s are missing: %s", strings.Join(w.Ready.Addresses, " "), why)}
		if !slices.Contains(all, missing) {
			all = append(all, missing)
		}
	}
	return all
}

// warnOnward names the servers that asked others while they served, and the first that
// each was seen to ask.
func warnOnward(s *cells.Dataset) []record.Warning {
	var all []record.Warning
	met := map[string]bool{}
	for v, w := range s.Workers() {
		asked := trial.AskedOnward(v.Record, w)
		if asked == "" {
			continue
		}
		at := strings.Join(w.Ready.Addresses, " ")
		if met[at] {
			continue
		}
		met[at] = true
		all = append(all, record.Warning{
			About:  AboutServer,
			Text:   fmt.Sprintf("on %s, %s: what lies behind it is not in its CPU and memory", at, asked),
			Advice: "measure what it asks by itself too: netdyno and its URL",
		})
	}
	return all
}

// warnListening is about servers that were started by hand at an address of rig at:.
func warnListening(s *cells.Dataset) []record.Warning {
	var peers []string
	for _, v := range s.Trials {
		if v.Record == nil {
			continue
		}
		for _, peer := range v.Record.Away() {
			if !slices.Contains(peers, peer) {
				peers = append(peers, peer)
			}
		}
	}
	if len(peers) == 0 {
		return nil
	}
	slices.Sort(peers)
	return []record.Warning{{
		About:  AboutServer,
		Text:   fmt.Sprintf("the server on %s was not metered", strings.Join(peers, ", ")),
		Advice: "its CPU, memory and settings are missing, and no limit that needs them is named: netdyno listen sums up what its server spent; for figures of each arm let netdyno start the server: --rig ssh:HOST",
	}}
}
