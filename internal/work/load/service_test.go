package load

import (
	"runtime"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

func working(by contract.WorkBy, table contract.Table) contract.Setup {
	return contract.Setup{Role: contract.Server, Seed: 71, Work: &contract.Work{Ns: table, By: by}}
}

func TestServiceDrawsInTheOrderOfExchanges(t *testing.T) {
	table := contract.Table{{contract.TableEnd, 0, 1 << 30}}
	s, err := ServiceOf(working(contract.WorkSleep, table))
	if err != nil || !s.Sleeps() {
		t.Fatal(s, err)
	}
	d := draw.NewDrawer(table, 71, draw.Work)
	for n := range uint64(100) {
		if got := s.Next(); got != d.Draw(n) {
			t.Fatalf("exchange %d works for %d ns, want %d", n, got, d.Draw(n))
		}
	}
}

// Whatever else runs, the time that was asked for is spent: CPU time of the thread, or time
// asleep, of which a sleeper uses hardly any CPU.
func TestServiceSpendsItsTime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const ns = 3_000_000
	table := contract.Table{{contract.TableEnd, ns, ns}}
	for _, by := range []contract.WorkBy{contract.WorkCPU, contract.WorkSleep} {
		s, err := ServiceOf(working(by, table))
		if err != nil {
			t.Fatal(err)
		}
		began, cpu := time.Now(), threadNow()
		s.Serve()
		took, used := int64(time.Since(began)), threadNow()-cpu
		if took < ns || by == contract.WorkCPU && used < ns || by == contract.WorkSleep && used > ns/2 {
			t.Errorf("by %s: %d ns passed and %d ns of CPU, of %d", by, took, used, ns)
		}
	}
}

func TestServiceOfNothing(t *testing.T) {
	for _, setup := range []contract.Setup{{Role: contract.Server}, {Role: contract.Client, Work: &contract.Work{}}} {
		s, err := ServiceOf(setup)
		if s != nil || err != nil || s.Sleeps() {
			t.Errorf("%+v: %v, %v", setup, s, err)
		}
		s.Serve()
	}
	for _, setup := range []contract.Setup{working("nap", contract.Table{{contract.TableEnd, 1, 1}}), working("cpu", nil), working("cpu", contract.Table{{contract.TableEnd, 0, contract.MostWorkNs + 1}})} {
		if _, err := ServiceOf(setup); KindOf(err) != contract.SetupFailed || err == nil {
			t.Errorf("%+v: %v, expected an error of kind setup", setup.Work, err)
		}
	}
}
