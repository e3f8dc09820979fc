package wire

import (
	"fmt"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// SilenceFailure returns an error of kind timeout for a server that has accepted a
// connection and then sent only the first came of want bytes of its first reply. A
// want of 0 says that the caller does not know the reply's size.
func SilenceFailure(connection int, routes []Route, came, want int64, waited time.Duration) error {
	begin := fmt.Sprintf("verify connection %d of %d: the server at %s", connection+1, len(routes), routes[connection].Peer)
	var err error
	switch {
	case want == 0:
		err = fmt.Errorf("%s accepted the connection, sent no whole reply and said nothing more for %v", begin, waited)
	case came == 0:
		err = fmt.Errorf("%s accepted the connection and said nothing for %v", begin, waited)
	default:
		err = fmt.Errorf("%s sent %d of %d bytes and said nothing more for %v", begin, came, want, waited)
	}
	return load.Failure(contract.Timeout, err)
}
