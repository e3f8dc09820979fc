package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// AboutServer is what warnings about a server out of our sight are about.
const AboutServer = "server"

// away says where the trial's server stands, when nobody here could meter it;
// "" for a server of the trial's own.
func (e *trialAudit) away() string { return strings.Join(e.window.Record.Away(), " ") }

// warnAway says what is missing of a server that clients drove and nobody here
// metered, and how to get it.
func (s *dataset) warnAway(_ Findings) []record.Warning {
	var peers []string
	for _, v := range s.views {
		if v.record == nil {
			continue
		}
		for _, peer := range v.record.Away() {
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
		About: AboutServer,
		Text: fmt.Sprintf("nobody here metered what listens on %s: its CPU, memory and settings are absent, and no limit is named that needs them",
			strings.Join(peers, ", ")),
		Advice: "netdyno report THIS_DIRECTORY --server LISTEN_DIRECTORY adds what netdyno listen recorded there",
	}}
}
