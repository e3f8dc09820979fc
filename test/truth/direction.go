package truth

import (
	"net"
	"slices"
	"time"
)

// direction is one way of one connection. A goroutine receives and one sends.
type direction struct {
	relay    *Relay
	from, to net.Conn
	alarm    alarm                // the sender's
	begin    func() time.Duration // says for how long what came is held
	done     func(heldNs int64)   // hears for how long it was
}

// Bounds of what a direction holds: chunks, each of at most one read's size.
const (
	chunkBytes = 64 << 10
	maxWaiting = 64 // then nothing more is read
)

// chunk is what one read brought; its times are of the relay's clock.
type chunk struct {
	bytes     []byte
	came, due int64
}

// receive stamps what comes with when it is due, until the end of the stream or
// a connection that broke: both end the other side.
func (d direction) receive(waiting chan<- chunk) {
	defer close(waiting)
	buffer := make([]byte, chunkBytes)
	for {
		n, err := d.from.Read(buffer)
		if n > 0 {
			now := d.relay.now()
			waiting <- chunk{slices.Clone(buffer[:n]), now, now + int64(d.begin())}
		}
		if err != nil {
			return
		}
	}
}

// send lets chunks go when they are due, then ends the stream.
func (d direction) send(waiting <-chan chunk) {
	alive := true
	for c := range waiting { // emptied in any case, so that receive ends
		if !alive || !d.release(c.due) {
			continue
		}
		d.done(d.relay.now() - c.came)
		_, err := d.to.Write(c.bytes)
		alive = err == nil
	}
	d.end()
}

// release returns true when what is due then may go: not before, and not while
// the relay stalls. False when the relay is closed.
func (d direction) release(due int64) bool {
	r := d.relay
	if !d.alarm.until(due, r.now) {
		return false
	}
	now, begun := r.now(), r.stalled.Load()
	r.lateness.Record(now - due)
	if over := begun + int64(r.inject.Stall); begun > 0 && now < over {
		return d.alarm.until(over, r.now)
	}
	return true
}

// pass is both for a relay that injects nothing. One goroutine suffices, and is
// the same path: that a second one has to wake up is hidden in any delay.
func (d direction) pass() {
	buffer := make([]byte, chunkBytes)
	for {
		n, err := d.from.Read(buffer)
		if n > 0 && err == nil {
			_, err = d.to.Write(buffer[:n])
		}
		if err != nil {
			d.end()
			return
		}
	}
}

// end tells the other side that nothing more comes. Of a connection that broke
// there is nothing to end.
func (d direction) end() {
	if half, able := d.to.(*net.TCPConn); able {
		_ = half.CloseWrite()
	}
}
