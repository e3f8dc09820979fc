package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"netdyno/test/limits"
	"netdyno/test/truth"
)

// times sets the percentiles that were recorded beside those that a relay
// injected between real clients and servers.
func times(ctx context.Context, p *pipeline) ([]answer, error) {
	const most = 0.02
	errs, err := truth.Measure(ctx, p.bin, truth.Transports...)
	worst := truth.Error{}
	for _, e := range errs {
		fmt.Fprintln(os.Stderr, " ", e)
		if worst.Truth == 0 || math.Abs(e.Share()) > math.Abs(worst.Share()) {
			worst = e
		}
	}
	if len(errs) == 0 {
		return nil, cmp.Or(err, errors.New("nothing was injected"))
	}
	return []answer{{
		fmt.Sprintf("percentiles against injected truth, the worst of %d (%s of %s)", len(errs), worst.Figure, worst.Case),
		fmt.Sprintf("%+.2f %%", 100*worst.Share()), "within 2 %", math.Abs(worst.Share()) <= most,
	}}, err
}

// limited provokes every limit and every plateau and counts those that the
// reader names. It also keeps their trials if p.record names a directory.
func limited(ctx context.Context, p *pipeline) ([]answer, error) {
	named, all := 0, limits.Scenarios()
	for _, s := range all {
		provoke := func() (limits.Named, error) { return s.Provoke(ctx, p.bin) }
		if p.record != "" {
			provoke = func() (limits.Named, error) { return s.Record(ctx, p.bin, p.record) }
		}
		got, err := provoke()
		if err != nil && !errors.Is(err, limits.ErrBusy) {
			return nil, err
		}
		mark := "wrong"
		if err != nil {
			mark = err.Error()
		}
		if got.OK {
			named++
			mark = "right"
		}
		fmt.Fprintf(os.Stderr, "  %s: %s: %s (%s)\n", s.Name, mark, got.Got, got.Proof)
	}
	return []answer{
		{"limits, flags and refusals named in scenarios that provoke them", fmt.Sprintf("%d of %d", named, len(all)), "all", named == len(all)},
	}, nil
}
