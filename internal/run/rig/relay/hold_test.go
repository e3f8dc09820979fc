package relay

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"netdyno/internal/hist"
)

// spoken is a holder whose verdicts go into a pipe.
func spoken(t testing.TB, path Path, room int) (h *holder, verdicts int) {
	t.Helper()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(pipe[0]); unix.Close(pipe[1]) })
	q := &queue{fd: pipe[1], outbox: make([]byte, 0, maxVerdicts*verdictSize)}
	return newHolder(path, room, q, &tally{lateness: hist.NewRecorder()}), pipe[0]
}

// kernel is what the kernel does with verdicts: it keeps packets in order,
// accepts all up to a number, and drops single ones.
type kernel struct {
	queued            []uint32
	accepted, dropped []uint32
}

// obey carries out the verdicts that were written.
func (k *kernel) obey(t require, verdicts int) {
	buffer := make([]byte, maxVerdicts*verdictSize)
	for {
		n, err := unix.Read(verdicts, buffer)
		if err != nil {
			return // nothing more
		}
		for b := buffer[:n]; len(b) > 0; b = b[verdictSize:] {
			size, kind := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint16(b[4:])
			verdict, id := binary.BigEndian.Uint32(b[24:]), binary.BigEndian.Uint32(b[28:])
			switch i, found := slices.BinarySearch(k.queued, id); {
			case size != verdictSize || !found:
				t.Fatalf("verdict of %d bytes on packet %d; %d are queued", size, id, len(k.queued))
			case kind == msgVerdictBatch && verdict == verdictAccept:
				k.accepted = append(k.accepted, k.queued[:i+1]...)
				k.queued = k.queued[i+1:]
			case kind == msgVerdict && verdict == verdictDrop && i == 0:
				k.dropped = append(k.dropped, id)
				k.queued = k.queued[1:]
			default:
				t.Fatalf("verdict %d of type %#x on packet %d, which is number %d of the queue", verdict, kind, id, i)
			}
		}
	}
}

// require is what tests and properties share.
type require interface {
	Fatalf(format string, args ...any)
}

// Whatever comes when, also while the wall clock is set: each packet has one
// verdict, in order, not before it was held for the delay, and not after the
// first release that follows.
func TestEveryPacketHasItsVerdictInTimeAndOrder(t *testing.T) {
	rapid.Check(t, func(p *rapid.T) {
		const room = 64
		path := Path{
			Delay:     time.Duration(rapid.Int64Range(0, 1e9).Draw(p, "delay")),
			LossShare: rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(p, "loss"),
			Seed:      rapid.Uint64().Draw(p, "seed"),
		}
		h, verdicts := spoken(t, path, room)
		var k kernel
		var id uint32
		var skipped, released int64
		now, lastDue := h.epoch, int64(0)
		for range rapid.IntRange(1, 30).Draw(p, "steps") {
			for range rapid.IntRange(0, 5).Draw(p, "packets") {
				if h.full() {
					break
				}
				gap := rapid.SampledFrom([]uint32{0, 0, 0, 7}).Draw(p, "lost unread")
				skipped += int64(gap)
				id += 1 + gap
				// Seen after it came; or before, by a clock that was set meanwhile.
				age := time.Duration(rapid.Int64Range(-1e9, 1e9).Draw(p, "age"))
				h.holdPacket(announced{id: id, arrival: now.Add(-age)}, now)
				k.queued = append(k.queued, id)
				due := h.heldAt(h.tail - 1).due
				read := now.Sub(h.epoch)
				earliest, latest := int64(read-max(0, age)+path.Delay), max(lastDue, int64(read+path.Delay))
				if due < max(earliest, lastDue) || due > latest {
					p.Fatalf("packet %d is due at %d, expected %d to %d and after the one before at %d", id, due, earliest, latest, lastDue)
				}
				lastDue = due
			}
			now = now.Add(time.Duration(rapid.Int64Range(0, 1e9).Draw(p, "pause")))
			at := int64(now.Sub(h.epoch))
			if err := h.release(at); err != nil {
				p.Fatalf("release: %v", err)
			}
			k.obey(p, verdicts)
			released = int64(len(k.accepted) + len(k.dropped))
			if uint(len(k.queued)) != h.tail-h.head || len(k.queued) > 0 && h.heldAt(h.head).due <= at {
				p.Fatalf("%d packets are held and %d are queued; the first is due at %d of %d", h.tail-h.head, len(k.queued), h.heldAt(h.head).due, at)
			}
		}
		if !slices.IsSorted(k.accepted) || !slices.IsSorted(k.dropped) {
			p.Fatalf("verdicts out of order: accepted %v, dropped %v", k.accepted, k.dropped)
		}
		if got := h.tally.packets.Load(); got != int64(id) || h.tally.overflowed.Load() != skipped ||
			h.tally.dropped.Load() != int64(len(k.dropped)) || h.tally.lateness.Snapshot().Count() != released {
			p.Fatalf("account of %d packets does not match %d, of which %d unread and %d dropped", got, id, skipped, len(k.dropped))
		}
	})
}

// A full holder sleeps until its first packet is due, whatever is announced.
func TestAFullHolderDoesNotSpin(t *testing.T) {
	const delay = 20 * time.Millisecond
	h, verdicts := spoken(t, Path{Delay: delay}, 2)
	if _, err := unix.Write(h.queue.fd, []byte("readable")); err != nil {
		t.Fatal(err)
	}
	h.waits[0] = unix.PollFd{Fd: int32(verdicts)}
	h.waits[1].Fd, h.waits[2].Fd = -1, -1 // not waited for
	begun := time.Now()
	for id := range uint32(2) {
		if err := h.sleep(); err != nil || h.waits[0].Revents == 0 {
			t.Errorf("a holder with room does not wake for a packet: %v", err)
		}
		h.holdPacket(announced{id: id + 1}, begun)
	}
	wakes := 0
	for ; time.Since(begun) < delay; wakes++ {
		if err := h.sleep(); err != nil || h.waits[0].Revents != 0 {
			t.Fatalf("a full holder wakes for a packet: %v", err)
		}
	}
	if wakes > 10 { // a signal may end a sleep
		t.Errorf("a full holder wakes %d times before its first packet is due", wakes)
	}
}

func TestAPacketCostsNoAllocation(t *testing.T) {
	h, verdicts := spoken(t, Path{LossShare: 0.5}, 64)
	buffer := make([]byte, maxVerdicts*verdictSize)
	var id uint32
	cost := testing.AllocsPerRun(1000, func() {
		now := time.Now()
		for range 10 {
			id++
			h.holdPacket(announced{id: id, arrival: now}, now)
		}
		if err := h.release(h.now()); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Read(verdicts, buffer); err != nil {
			t.Fatal(err)
		}
	})
	if cost != 0 {
		t.Errorf("10 packets cost %v allocations, expected none", cost)
	}
}
