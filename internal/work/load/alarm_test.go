package load

import (
	"sync"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// Waiters on many goroutines all come back, none before its time, and the
// alarm's goroutines end with the load.
func TestWaitersComeBackWhenDue(t *testing.T) {
	l, err := New(contract.Setup{Load: contract.Load{Connections: 8, Rate: 1000}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			w := l.NewWaiter()
			for k := range 10 {
				due := Now() + int64((i*7+k*13)%20)*int64(100*time.Microsecond)
				if !w.Until(due) {
					t.Error("the load ended under a waiter")
				}
				if now := Now(); now < due {
					t.Errorf("woken %d ns early", due-now)
				}
			}
		})
	}
	wait.Wait()
	late := make(chan bool)
	go func() { late <- l.NewWaiter().Until(Now() + int64(time.Hour)) }()
	l.End(Now())
	if <-late {
		t.Error("a waiter for what is due in an hour says that it is due")
	}
	l.WakeAt(Now() + 1) // after the end: asks nothing of a closed file
}

// The alarm is set to the earliest instant, whatever the order of asking, and
// goes on to the next one.
func TestAlarmIsSetToTheEarliest(t *testing.T) {
	var a alarm
	ended := make(chan struct{})
	defer close(ended)
	hour := Now() + int64(time.Hour)
	for _, due := range []int64{hour + 2, hour, hour + 1} {
		a.wakeAt(due, ended)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil {
		t.Skip("this kernel gives no timerfd")
	}
	if a.armed != hour || a.dues.Len() != 3 {
		t.Errorf("armed for %d of %d instants, want the earliest, %d, of 3", a.armed-hour, a.dues.Len(), 0)
	}
}
