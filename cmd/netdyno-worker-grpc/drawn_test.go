package main

import (
	"testing"

	"netdyno/internal/contract"
)

// A stream says nothing of each of its messages, and chunks are of one message.
func TestSizesThatAStreamCannotSay(t *testing.T) {
	table := contract.Table{{contract.TableEnd, 0, 300}}
	drawn := contract.Exchange{UpBytes: 300, DownBytes: 300, UpSizes: table, DownSizes: table}
	chunks := drawn
	chunks.Stream = contract.StreamDown
	for _, p := range []trial{{Exchange: drawn, Client: map[string]any{"mode": "stream"}}, {Exchange: chunks}} {
		if err := p.Refused(t, transports, "127.0.0.1:1"); err.Kind != contract.Unsupported {
			t.Errorf("%+v, expected an error of kind unsupported", err)
		}
	}
}
