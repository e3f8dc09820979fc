package relay

import (
	"net"
	"testing"
	"time"
)

// BenchmarkGoodput prints what share of an untouched link's TCP goodput is left
// with a relay of 1 ms on both sides, and what a relay without delay costs.
func BenchmarkGoodput(b *testing.B) {
	const size = 1 << 30
	left, right := joined(b)
	timed := func() time.Duration {
		from, to := stream(b, left, right)
		defer to.Close()
		defer from.Close()
		pour(b, from, to, size/8) // the window opens
		begun := time.Now()
		pour(b, from, to, size)
		return time.Since(begun)
	}
	through := func(delay time.Duration) time.Duration {
		for _, e := range []end{left, right} {
			r, err := Start(e.namespace, "eth0", Path{Delay: delay})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
		}
		return timed()
	}
	var bare, prompt, delayed time.Duration
	for b.Loop() {
		bare += timed()
		prompt += through(0)
		delayed += through(time.Millisecond)
	}
	b.ReportMetric(float64(bare)/float64(prompt), "of-bare-at-0ms")
	b.ReportMetric(float64(bare)/float64(delayed), "of-bare-at-1ms")
	b.ReportMetric(size*8/1e9*float64(b.N)/bare.Seconds(), "bare-Gbit/s")
}

// pour sends that many bytes, which nobody looks at.
func pour(b *testing.B, from, to net.Conn, size int) {
	b.Helper()
	const chunk = 256 << 10
	failed := make(chan error, 1)
	go func() {
		buffer := make([]byte, chunk)
		for range size / chunk {
			if _, err := from.Write(buffer); err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	buffer := make([]byte, chunk)
	for got := 0; got < size; {
		n, err := to.Read(buffer)
		if err != nil {
			b.Fatal(err)
		}
		got += n
	}
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
}
