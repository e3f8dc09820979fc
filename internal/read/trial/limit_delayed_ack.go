package trial

import (
	"fmt"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// DelayedACK says that exchanges waited for Nagle's algorithm at one end and for the delayed
// acknowledgement of the other.
const DelayedACK Limit = "delayed-ack"

// ackedLate is the share of the exchanges' time that a plateau must hold to be the limit.
const ackedLate = 0.5

var limitDelayedACK = limitRule{DelayedACK, waitedForACK, meanDelayedACK}

// waitedForACK proves that most of the exchanges' time is a plateau of delayed
// acknowledgements; see flag PlateauDelayedACK.
func waitedForACK(e *audit) (of contract.Role, why string) {
	n, took, proof := plateauDelayedACK.proven(e)
	if proof.words == "" {
		return "", ""
	}
	h, _ := e.window.Histogram(record.Service)
	if took < ackedLate*total(h) {
		return "", ""
	}
	likely := ""
	if proof.likely {
		likely = "likely, "
	}
	parts := map[contract.Role]string{contract.Server: "replies", contract.Client: "requests"}[proof.of]
	return proof.of, fmt.Sprintf("%s%s of a reply's time are Nagle's algorithm and a delayed ACK on the %s's side: it writes %s in parts, without TCP_NODELAY; %s of the exchanges' time passed so; %s",
		likely, quantity.FormatDuration(time.Duration(took/n)), proof.of, parts, quantity.FormatShare(took/total(h)), proof.words)
}

// What its name stands for in netdyno explain.
var meanDelayedACK = Meaning{
	Called: "Nagle's algorithm and delayed ACKs",
	Means:  "an end wrote each message in parts without TCP_NODELAY, and half of the exchanges' time or more passed until the other end's kernel acknowledged the first part, which it puts off by 40 ms",
	Cure:   "set TCP_NODELAY at that end, or write each message at once", Says: true,
}
