package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestDrawnSizes(t *testing.T) {
	for _, codec := range []string{"proto", "raw"} {
		options := map[string]any{"codec": codec}
		setup := contract.Setup{Transport: "go-grpc", Options: options}
		workertest.Draws(t, transports, setup, setup, 4)
	}
	up, _ := workertest.Drawn()
	up.DownSizes = nil
	options := map[string]any{"mode": "stream"}
	workertest.Draws(t, transports, contract.Setup{Transport: "go-grpc", Exchange: up, Options: options}, contract.Setup{Transport: "go-grpc", Options: options}, 4)
}

// A stream says nothing of each of its messages, and chunks are of one message.
func TestSizesThatAStreamCannotSay(t *testing.T) {
	both, _ := workertest.Drawn()
	streamed := both
	streamed.Stream = contract.StreamDown
	for _, setup := range []contract.Setup{{Exchange: both, Options: map[string]any{"mode": "stream"}}, {Exchange: streamed}} {
		setup.Transport, setup.Role, setup.Peers, setup.Load.Connections = "go-grpc", contract.Client, []string{"127.0.0.1:1"}, 1
		if err := workertest.Refused(t, transports, setup); err.Kind != contract.Unsupported {
			t.Errorf("%+v, expected an error of kind unsupported", err)
		}
	}
}
