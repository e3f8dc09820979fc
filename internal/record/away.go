package record

import "netdyno/internal/contract"

// Away returns the addresses of servers that the trial's clients drove and
// that were no workers of the trial: nothing is known of them but what clients
// see. Nil when the servers are among the workers, or when there are none.
func (r *Record) Away() []string {
	var peers []string
	for _, w := range r.Workers {
		switch {
		case w.Role == contract.Server:
			return nil
		case w.Role == contract.Client && w.Setup != nil && len(peers) == 0:
			peers = w.Setup.Peers
		}
	}
	return peers
}
