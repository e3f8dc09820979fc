package trial_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// grouped puts a worker into a control group, as its two readings show the group.
func grouped(w *record.Worker, from, to contract.Group) {
	w.Open.Meter.Group, w.Close.Meter.Group = &from, &to
}

// A quota is the limit when it was used up in most periods, and no standstill: the meter
// stands still with its group.
func TestAQuotaThatIsUsedUp(t *testing.T) {
	for _, c := range []struct {
		throttled int64 // of ten periods
		want      trial.Limit
	}{{9, trial.CgroupThrottle}, {4, trial.Latency}, {0, trial.Latency}} {
		for at, role := range []contract.Role{contract.Server, contract.Client} {
			got := examined(t, synthetic.Options{}, func(r *record.Record) {
				q := contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 1000, Throttled: 500, ThrottledNs: 1e9}
				after := q
				after.Periods, after.Throttled, after.ThrottledNs = q.Periods+10, q.Throttled+c.throttled, q.ThrottledNs+c.throttled*50e6
				grouped(&r.Workers[at], contract.Group{Name: "/box", Quota: &q, CPUNs: 4e9}, contract.Group{Name: "/box", Quota: &after, CPUNs: 45e8})
			})
			if got.Limit != c.want {
				t.Errorf("%s throttled in %d of 10 periods: %s (%s), want %s", role, c.throttled, got.Limit, got.LimitProof, c.want)
			}
			if c.want == trial.CgroupThrottle && (!strings.Contains(got.LimitProof, string(role)+"'s control group used") || !strings.Contains(got.LimitProof, "of the 0.5 CPUs that it may use")) {
				t.Errorf("the proof is %q", got.LimitProof)
			}
		}
	}
}

// Less than the limit is told, too, from 2 % of the window on, and how long it was.
func TestAQuotaThatHeldBack(t *testing.T) {
	for name, c := range map[string]struct {
		share float64 // of the window, summed over CPUs
		want  string
	}{
		"never": {0, ""}, "hardly": {0.019, ""}, "a little": {0.02, "for up to 2.00 % of the window"},
		"two CPUs at once": {1.6, "for up to 100 % of the window"},
	} {
		got := examined(t, synthetic.Options{}, func(r *record.Record) {
			w := &r.Workers[0]
			length := float64(w.Close.Meter.AtNs - w.Open.Meter.AtNs)
			q := contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 1000}
			after := q
			after.Periods, after.Throttled, after.ThrottledNs = 1010, 1, int64(c.share*length+0.5)
			grouped(w, contract.Group{Name: "/box", Quota: &q}, contract.Group{Name: "/box", Quota: &after})
		})
		if flagged := slices.Contains(got.Flags, trial.Throttled); flagged != (c.want != "") || !strings.Contains(got.Reason, c.want) {
			t.Errorf("%s: flags %v, %q; want %q", name, got.Flags, got.Reason, c.want)
		}
	}
}

// A hop's quota is told as the hop's, and no client's.
func TestAQuotaOfAHop(t *testing.T) {
	got := examined(t, synthetic.Options{}, func(r *record.Record) {
		synthetic.Hop(r, "nginx", 1000, 0)
		q := contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 1000}
		after := q
		after.Periods, after.Throttled = 1010, 9
		grouped(&r.Workers[len(r.Workers)-1], contract.Group{Name: "/box", Quota: &q}, contract.Group{Name: "/box", Quota: &after})
	})
	if got.Limit != trial.CgroupThrottle || !strings.Contains(got.LimitProof, "the hop's control group may use 0.5 CPUs") {
		t.Errorf("%s (%s), want the hop's quota", got.Limit, got.LimitProof)
	}
}

// Memory is the limit when the group met its own and waited for it; files that fill a
// group's memory are let go without anybody waiting.
func TestMemoryThatIsUsedUp(t *testing.T) {
	for _, c := range []struct {
		met, waited int64 // times, and hundredths of the window
		want        trial.Limit
	}{{40, 30, trial.MemoryLimit}, {40, 1, trial.Latency}, {0, 30, trial.Latency}} {
		got := examined(t, synthetic.Options{}, func(r *record.Record) {
			w := &r.Workers[0]
			length := w.Close.Meter.AtNs - w.Open.Meter.AtNs
			reading := func(met, waited int64) contract.Group {
				return contract.Group{Name: "/box", MemoryLimit: &contract.MemoryLimit{Bytes: 64 << 20, UsedBytes: 63 << 20, Met: met}, Pressure: map[string]int64{"memory": waited}}
			}
			grouped(w, reading(7, 1e6), reading(7+c.met, 1e6+length*c.waited/100))
		})
		if got.Limit != c.want {
			t.Errorf("met %d times, %d %% waited: %s (%s), want %s", c.met, c.waited, got.Limit, got.LimitProof, c.want)
		}
	}
}

// What a quota makes stand still is no fault; what stands still for longer is one.
func TestAThrottledGroupStandsStill(t *testing.T) {
	for _, c := range []struct {
		milliseconds int64
		throttled    int64
		flagged      bool
	}{{60, 9, false}, {60, 0, true}, {600, 9, true}} {
		got := examined(t, synthetic.Options{Window: time.Second}, func(r *record.Record) {
			w := &r.Workers[0]
			q := contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 1000, Throttled: 500}
			after := q
			after.Periods, after.Throttled = q.Periods+10, q.Throttled+c.throttled
			grouped(w, contract.Group{Name: "/box", Quota: &q}, contract.Group{Name: "/box", Quota: &after})
			beats(w, nil, [2]float64{0.2, 0.2 + float64(c.milliseconds)/1e3})
		})
		if has := slices.Contains(got.Flags, trial.Stalled); has != c.flagged {
			t.Errorf("stood still for %d ms, throttled in %d of 10 periods: flags %v, want stalled %t", c.milliseconds, c.throttled, got.Flags, c.flagged)
		}
	}
}

// A server that others started is in its own group, also where processes of it come and
// go; where nobody is read in the worker's place, the group is the worker's.
func TestTheGroupOfAServerElsewhere(t *testing.T) {
	for _, c := range []struct {
		attached *contract.Attached
		want     trial.Limit
	}{{&contract.Attached{PIDs: []int{7}, Lost: 3}, trial.CgroupThrottle}, {&contract.Attached{PIDs: []int{7}, Why: "why"}, trial.CgroupThrottle}, {nil, ""}} {
		got := examined(t, synthetic.Options{}, func(r *record.Record) {
			w := &r.Workers[0]
			w.Ready.Elsewhere, w.Ready.Foreign = true, true
			q := contract.Quota{AllowedNs: 50e6, PeriodNs: 100e6, Periods: 1000}
			after := q
			after.Periods, after.Throttled = 1010, 9
			grouped(w, contract.Group{Name: "/box", Quota: &q}, contract.Group{Name: "/box", Quota: &after})
			w.Open.Meter.Attached, w.Close.Meter.Attached = c.attached, c.attached
		})
		if is := got.Limit == trial.CgroupThrottle; is != (c.want != "") {
			t.Errorf("attached %+v: limit %s (%s)", c.attached, got.Limit, got.LimitProof)
		}
	}
}
