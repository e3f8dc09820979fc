package contract

import "testing"

func TestStreamed(t *testing.T) {
	for _, c := range []struct {
		stream   Stream
		up, down int64
	}{{StreamUp, 1000, 0}, {StreamDown, 0, 10}, {StreamBoth, 1000, 10}, {"", 1000, 10}} {
		if up, down := (Exchange{UpBytes: 1000, DownBytes: 10, Stream: c.stream}).Streamed(); up != c.up || down != c.down {
			t.Errorf("stream %q: %d up, %d down; want %d and %d", c.stream, up, down, c.up, c.down)
		}
	}
}
