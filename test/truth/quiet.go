package truth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/internal/run/doctor"
)

// ErrBusy tells that a case could not be carried out undisturbed.
var ErrBusy = errors.New("the machine was never quiet enough")

// undisturbed carries out a load behind an injection, up to four times, until the
// machine was quiet enough for the injection. With a shortest delay of 10 ms, the path
// alone and the relay's lateness may take 0.1 ms (1 %) at their medians, and the relay's
// lateness 0.2 ms (2 %) at its 95th percentile, where percentiles of short delays lie,
// while little was stolen from the host. undisturbed never looks at the figures that are
// measured.
func (s *stage) undisturbed(ctx context.Context, levels []string, inject Injection) (outcome, error) {
	const tries = 4
	allowed := inject.Shortest() / 100
	var own, worst time.Duration
	var stolen float64
	for range tries {
		path, err := s.path(ctx, levels[0])
		if err != nil {
			return outcome{}, err
		}
		if own = path; own > allowed {
			continue
		}
		o, err := s.conduct(ctx, levels, inject)
		if err != nil {
			return outcome{}, err
		}
		if stolen = stolenOf(o); stolen > mostStolen {
			continue
		}
		late, err1 := tail(o.lateness, 0.5)
		rare, err2 := tail(o.lateness, 0.95)
		if own, worst = path+late, rare; err1 == nil && err2 == nil && own <= allowed && worst <= 2*allowed {
			o.path = path
			return o, nil
		}
	}
	return outcome{}, fmt.Errorf("%w: in the last of %d tries path and relay by themselves took %v, "+
		"expected at most %v, the relay %v once in twenty times, expected %v, and %.1f %% of the CPU time was stolen, expected %v %%",
		ErrBusy, tries, own, allowed, worst, 2*allowed, 100*stolen, 100*mostStolen)
}

// mostStolen is the share of CPU time above which every report calls a trial
// noisy, twice over.
const mostStolen = 0.02

// stolenOf returns the share of the host's CPU time that the hypervisor took in
// the window, all of it where the record does not say.
func stolenOf(o outcome) float64 {
	m, err := metric.Named(metric.HostSteal)
	if err != nil {
		return 1
	}
	if share, known := m.In(o.window); known {
		return share
	}
	return 1
}

// path returns the median service time of a transport through a relay that adds
// nothing.
func (s *stage) path(ctx context.Context, transport string) (time.Duration, error) {
	bare, err := s.conduct(ctx, append(slices.Clone(bareLoop), transport), Injection{})
	if err != nil {
		return 0, err
	}
	return percentileOf(bare.window, record.Service, 0.5)
}

// settled waits until the host has little else to do, but not for ever: whether
// it then stays so each case finds out for itself.
func settled(ctx context.Context) error {
	const (
		enough = 0.1 // of all CPUs busy
		looks  = 50  // 10 s
	)
	for range looks {
		now, err := doctor.Observe(ctx, doctor.SampleFor)
		if err != nil || now.BusyShare <= enough {
			return err
		}
	}
	return nil
}
