package relay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// burst is how many packets are read before it is looked again whether any
	// are due.
	burst = 64

	// releaseQuiet is how long no packet must come before a relay that is asked
	// to end believes that no other CPU is still queueing one.
	releaseQuiet = time.Millisecond

	// releaseTries bounds how often it believes otherwise.
	releaseTries = 100
)

// held is a packet that waits. Times are ns since the holder's epoch.
type held struct {
	due  int64
	id   uint32
	lost bool
}

// holder is the loop: it reads what the queue announces, gives each verdict when
// it is due, and sleeps in between. One goroutine uses it; it allocates nothing
// per packet.
type holder struct {
	delay  int64 // ns
	share  float64
	random *rand.Rand
	queue  *queue
	tally  *tally
	epoch  time.Time

	ring       []held // a power of two of them
	head, tail uint   // the oldest and one past the youngest

	lastDue int64
	lastID  uint32 // packets are numbered from 1
	waits   [3]unix.PollFd
}

func newHolder(path Path, room int, q *queue, t *tally) *holder {
	return &holder{
		delay: int64(path.Delay), share: path.LossShare, random: rand.New(rand.NewPCG(path.Seed, path.Seed)),
		queue: q, tally: t, epoch: time.Now(), ring: make([]held, room),
	}
}

// run relays until wake becomes readable, then releases everything and returns
// nil; or until something fails, as the interface that goes away.
func (h *holder) run(l *link, wake int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// The kernel may wake a thread 50 µs late so as to wake several at once.
	// Only this thread, and only as long as it is ours.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set timer slack: %w", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }() // back to the default: cannot fail where the first did not

	h.waits = [3]unix.PollFd{{Fd: int32(h.queue.fd)}, {Fd: int32(wake), Events: unix.POLLIN}, {Fd: int32(l.fd), Events: unix.POLLIN}}
	for {
		if err := h.release(h.now()); err != nil {
			return err
		}
		if err := h.sleep(); err != nil {
			return err
		}
		switch {
		case h.waits[1].Revents != 0:
			return h.releaseAll()
		case h.waits[2].Revents != 0:
			if err := l.check(); err != nil {
				return err
			}
		case h.waits[0].Revents != 0:
			if err := h.readPackets(); err != nil {
				return err
			}
		}
	}
}

func (h *holder) now() int64 { return int64(time.Since(h.epoch)) }

// full is when nothing more is read: announcements then wait in the socket's
// buffer, and the kernel drops what has no room there, the cheapest way.
func (h *holder) full() bool { return h.tail-h.head == uint(len(h.ring)) }

func (h *holder) heldAt(i uint) *held { return &h.ring[i&uint(len(h.ring)-1)] }

// readPackets takes what is announced.
func (h *holder) readPackets() error {
	for i := 0; i < burst && !h.full(); i++ {
		p, ok, err := h.queue.nextPacket()
		if err != nil || !ok {
			return err
		}
		h.holdPacket(p, time.Now())
	}
	return nil
}

// holdPacket holds one packet that was read now.
func (h *holder) holdPacket(p announced, now time.Time) {
	arrival := int64(now.Sub(h.epoch))
	if !p.arrival.IsZero() {
		// The kernel's time is cut to a µs; a packet must not be due before its time.
		age := now.UnixNano() - p.arrival.UnixNano() - int64(time.Microsecond)
		arrival -= max(0, age)
	}
	// A packet never overtakes an earlier one, also when the wall clock is set.
	h.lastDue = max(h.lastDue, arrival+h.delay)
	*h.heldAt(h.tail) = held{due: h.lastDue, id: p.id, lost: h.share > 0 && h.random.Float64() < h.share}
	h.tail++
	h.count(p.id)
}

// count counts a packet, and the packets before it that the kernel found no room to
// announce. The kernel numbers every packet: after 7, number 10 tells that 8 and 9 were
// not announced. The numbers wrap around.
func (h *holder) count(id uint32) {
	missing := int64(id - h.lastID - 1)
	h.lastID = id
	h.tally.packets.Add(1 + missing)
	h.tally.overflowed.Add(missing)
}

// release gives the verdicts that are due. Losses have theirs when they are due
// too: the kernel finds its oldest packet fast and its youngest slowly.
func (h *holder) release(now int64) error {
	var accepted uint32 // 0, which no packet has, when nothing is to be accepted
	for ; h.head != h.tail && h.heldAt(h.head).due <= now; h.head++ {
		p := h.heldAt(h.head)
		h.tally.lateness.Record(now - p.due)
		if !p.lost {
			accepted = p.id
			continue
		}
		h.tally.dropped.Add(1)
		if err := errors.Join(h.accept(accepted), h.queue.drop(p.id)); err != nil {
			return err
		}
		accepted = 0
	}
	return errors.Join(h.accept(accepted), h.queue.flush())
}

func (h *holder) accept(id uint32) error {
	if id == 0 {
		return nil
	}
	return h.queue.acceptTo(id)
}

// sleep waits for the next packet, the next verdict that is due, or an end.
func (h *holder) sleep() error {
	h.waits[0].Events = unix.POLLIN
	if h.full() {
		h.waits[0].Events = 0
	}
	var until *unix.Timespec
	if h.head != h.tail {
		wait := unix.NsecToTimespec(max(0, h.heldAt(h.head).due-h.now()))
		until = &wait
	}
	return h.poll(h.waits[:], until)
}

func (h *holder) poll(waits []unix.PollFd, until *unix.Timespec) error {
	for i := range waits {
		waits[i].Revents = 0
	}
	if _, err := unix.Ppoll(waits, until, nil); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for packets: %w", err)
	}
	return nil
}

// releaseAll accepts what is held, due or not, and what is announced meanwhile.
func (h *holder) releaseAll() error {
	quiet := unix.NsecToTimespec(int64(releaseQuiet))
	onlyQueue := h.waits[:1]
	onlyQueue[0].Events = unix.POLLIN
	for round := range releaseTries {
		came, err := h.countAll()
		if err != nil || round > 0 && !came {
			return err
		}
		if err := errors.Join(h.queue.acceptTo(h.lastID), h.queue.flush()); err != nil {
			return err
		}
		if err := h.poll(onlyQueue, &quiet); err != nil {
			return err
		}
	}
	return fmt.Errorf("release packets: they still come after %d rounds, though no rule sends them", releaseTries)
}

// countAll counts what is announced and says whether there was anything.
func (h *holder) countAll() (came bool, err error) {
	for {
		p, ok, err := h.queue.nextPacket()
		if err != nil || !ok {
			return came, err
		}
		h.count(p.id)
		came = true
	}
}
