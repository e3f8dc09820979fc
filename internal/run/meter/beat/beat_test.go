package beat

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

const (
	ms    = int64(time.Millisecond)
	every = 10 * time.Millisecond
)

// woken is one beat, in ms: when the thread began to sleep and when it woke, and how
// long it had waited for a CPU by then.
type woken struct{ asleep, at, waited int64 }

func TestOnlyWhatDidNotWaitForACPUStoodStill(t *testing.T) {
	for _, c := range []struct {
		name    string
		beats   []woken
		longest int64
		want    []contract.Standstill
	}{
		{"even", []woken{{0, 10, 0}, {10, 20, 0}, {20, 30, 0}}, 0, nil},
		{"a little late", []woken{{0, 10, 0}, {10, 29, 0}, {29, 39, 0}}, 9, nil},
		{"frozen for 40 ms", []woken{{0, 10, 0}, {10, 55, 0}, {55, 65, 0}}, 35, []contract.Standstill{{FromNs: 10 * ms, ToNs: 55 * ms}}},
		{"on a busy host", []woken{{0, 10, 0}, {10, 120, 100}, {120, 180, 150}}, 0, nil},
		{"held up before it slept", []woken{{0, 10, 0}, {90, 91, 0}}, 1, nil},
		{"frozen, and then waiting", []woken{{0, 10, 0}, {10, 150, 60}}, 70, []contract.Standstill{{FromNs: 10 * ms, ToNs: 90 * ms}}},
		{"twice", []woken{{0, 40, 0}, {40, 50, 0}, {50, 90, 0}}, 30, []contract.Standstill{{FromNs: 0, ToNs: 40 * ms}, {FromNs: 50 * ms, ToNs: 90 * ms}}},
	} {
		s := newSpans(every, 0, 0)
		for _, b := range c.beats {
			s.woke(b.asleep*ms, b.at*ms, b.waited*ms)
		}
		got := s.beat()
		same := len(got.Stood) == len(c.want) && got.LongestNs == c.longest*ms && got.EveryNs == int64(every)
		for i := 0; same && i < len(c.want); i++ {
			same = got.Stood[i] == c.want[i]
		}
		if !same {
			t.Errorf("%s: %+v, want longest %d ms and %v", c.name, got, c.longest, c.want)
		}
	}
}

// A record keeps the longest, in their order.
func TestStandstillsAreBounded(t *testing.T) {
	s, now := newSpans(every, 0, 0), int64(0)
	for i := range int64(3 * contract.MaxStood) {
		before := now
		now += (30 + i%100) * ms
		s.woke(before, now, 0)
	}
	got := s.beat().Stood
	if len(got) != contract.MaxStood {
		t.Fatalf("%d are kept, want %d", len(got), contract.MaxStood)
	}
	for i, one := range got {
		if one.ToNs-one.FromNs < 80*ms || i > 0 && one.FromNs < got[i-1].ToNs {
			t.Errorf("number %d is %+v", i, one)
		}
	}
}

// A process that is held at two of four looks stood still from halfway to halfway.
func TestLooksAtAHeldProcess(t *testing.T) {
	s := newSpans(every, 0, 0)
	for i, held := range []bool{false, true, true, false, false} {
		s.saw(int64(20+20*i)*ms, 7, contract.Stopped{PID: 7, Name: "server"}, held)
	}
	got := s.beat().Stood
	if len(got) != 1 || got[0].FromNs != 30*ms || got[0].ToNs != 70*ms || got[0].Held.PID != 7 {
		t.Errorf("%+v, want 30 to 70 ms", got)
	}
}

// A process that a signal holds is seen while the meter itself goes on.
func TestAHeldProcessStoodStill(t *testing.T) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	pid := other.Process.Pid
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	w := Start(every)
	w.Look([]int{pid})
	if w == nil {
		t.Fatal("this kernel does not tell how long threads wait for a CPU")
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Kill(pid, unix.SIGCONT) }()
	var tree usage.Tree
	for held := false; !held; _, held = tree.Held(pid) {
		time.Sleep(time.Millisecond)
	}
	from := usage.Now()
	for usage.Now() < from+300*ms { // of which it is held
		time.Sleep(time.Millisecond)
	}
	b := w.End() // while it still is
	if again := w.End(); again != nil {
		t.Errorf("ended twice, it says %+v again", again)
	}
	for _, s := range b.Stood {
		if s.Held != nil && s.Held.PID == pid && s.Held.Name == "sleep" && s.FromNs < s.ToNs && s.ToNs >= from+300*ms {
			return
		}
	}
	t.Errorf("%+v has no standstill of process %d from %d on", b, pid, from)
}

// An end does not wait for the beat that is due.
func TestAnEndWakesTheWatch(t *testing.T) {
	if got := Start(24 * time.Hour).End(); got == nil || got.EveryNs != int64(24*time.Hour) || len(got.Stood) > 0 {
		t.Errorf("%+v, want a beat of a day that saw nothing", got)
	}
}
