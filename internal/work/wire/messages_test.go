package wire

import (
	"testing"

	"netdyno/internal/contract"
)

func TestMessagesEndOnceEach(t *testing.T) {
	of := func(stream contract.Stream, chunk int64) Messages {
		return MessagesOf(contract.Exchange{Stream: stream, UpBytes: 1, DownBytes: 9, ChunkBytes: chunk})
	}
	for _, c := range []struct {
		of                           Messages
		before, came, ended, missing int64
	}{
		{of(contract.StreamDown, 4), 0, 3, 0, 1},
		{of(contract.StreamDown, 4), 3, 4, 1, 4},
		{of(contract.StreamDown, 4), 3, 8, 2, 1}, // the last one is shorter
		{of(contract.StreamDown, 4), 8, 9, 1, 0},
		{of(contract.StreamDown, 4), 0, 9, 3, 0},
		{of(contract.StreamDown, 3), 6, 9, 1, 0},
		{of(contract.StreamDown, 0), 0, 9, 1, 0}, // a chunk holds all
		{of(contract.StreamUp, 4), 0, 8, 0, 1},   // the reply is one
		{of("", 4), 8, 9, 1, 0},
	} {
		if got := c.of.Ended(c.before, c.came); got != c.ended {
			t.Errorf("%+v: from %d to %d bytes %d end, want %d", c.of, c.before, c.came, got, c.ended)
		}
		if got := c.of.Missing(c.came); got != c.missing {
			t.Errorf("%+v: %d bytes lack %d, want %d", c.of, c.came, got, c.missing)
		}
	}
	if got := MessagesOf(contract.Exchange{}).Ended(0, 0); got != 0 {
		t.Errorf("a reply of no bytes has %d", got)
	}
}
