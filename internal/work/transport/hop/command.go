package hop

import (
	"errors"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/foreign"
)

// Command is the transport's name of a hop that the user's command line starts.
const Command = "hop-exec"

// command is a hop of the user's. It may be anything that takes TCP connections at
// {port} and passes on to {upstream} what comes.
type command struct{}

// Describe implements load.Transport.
func (command) Describe() contract.Transport {
	return contract.Transport{
		Name: Command, Doc: "a hop: a program of yours, started from its command line (path=exec:COMMAND)",
		Roles: []contract.Role{contract.Hop}, Delivery: contract.DeliveryChunks,
		Options: []contract.Option{
			{Name: "command", Type: contract.TypeText, Default: "", Doc: "command line, without a shell; {host}, {port}, {upstream} (host:port) and {threads} are filled in"},
			wireOption(),
		},
	}
}

// Client implements load.Transport; the role is not declared, so it is never reached.
func (command) Client(contract.Setup) (load.Client, error) { panic("a hop has no client") }

// Server implements load.Transport.
func (command) Server(setup contract.Setup) (load.Server, error) {
	if len(setup.Peers) != 1 {
		return nil, load.Failure(contract.Unsupported, fmt.Errorf("setup.peers has %d servers: a hop of the user's is told of one alone, as {upstream}", len(setup.Peers)))
	}
	line := load.Options(setup.Options).Text("command")
	if line == "" {
		return nil, load.Failure(contract.SetupFailed, errors.New("option command is empty, expected the command line of a hop, such as \"socat TCP-LISTEN:{port},fork TCP:{upstream}\""))
	}
	return foreign.Start(setup, 0, wait, func(host, port string) ([]string, error) {
		return foreign.Command(setup, line, host, port)
	})
}
