// Package mesh_test measures a small mesh of namespaces and takes a host away in the
// middle of it.
package mesh_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/mesh"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// spaces is a rig of n namespaces.
func spaces(t *testing.T, n int) *namespaces.Rig {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	r, err := namespaces.Build(namespaces.Options{Hosts: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// planned is the mesh of a rig's hosts in short windows.
func planned(t *testing.T, hosts []rig.Host, blocks int) (record.Header, []record.Trial) {
	t.Helper()
	s, err := source.ParseArgs([]string{"mesh", "warmup=50ms", "window=150ms", "placement=free", "link.rate=20Mbit", fmt.Sprint("blocks=", blocks)}, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	if s, err = s.OnHosts(names); err != nil {
		t.Fatal(err)
	}
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return record.Header{Schema: record.Schema, Study: study.Summary(s)}, trials
}

// taken is a host whose cable somebody takes away while a trial of it runs.
type taken struct {
	host   rig.Host
	during string // ID of the trial
	gone   sync.Once
	err    error
}

func (v *taken) observe(ctx context.Context) func(bench.Event) {
	var now record.Trial
	return func(e bench.Event) {
		switch {
		case e.Tick == nil && e.Record == nil:
			now = e.Trial
		case e.Tick != nil && now.Block == 2:
			v.gone.Do(func() {
				v.during = now.ID
				_, v.err = v.host.Ask(ctx, nil, "ip", "link", "delete", "nd0")
			})
		}
	}
}

// In a mesh the trials of a round run at the same time. A host that vanishes fails
// its own trials, with a reason; the others go on, every trial leaves one record, and
// the report names the host.
func TestAHostVanishes(t *testing.T) {
	r := spaces(t, 4)
	b := benchtest.Built(t)
	victim := taken{host: r.Hosts()[2]}
	header, trials := planned(t, r.Hosts(), 2)
	on := &bench.Bench{Rig: r, Catalog: b.Catalog, Meter: b.Meter, Observe: victim.observe(t.Context())}
	records, err := session.Conduct(t.Context(), on, trials)
	if err != nil || victim.err != nil {
		t.Fatal(err, victim.err)
	}
	if victim.during == "" {
		t.Fatal("the host's cable was never taken away")
	}
	begun := slices.IndexFunc(trials, func(one record.Trial) bool { return one.ID == victim.during })
	begun = slices.IndexFunc(trials, func(one record.Trial) bool { return study.AtOnce(one, trials[begun]) })
	lost := 0
	for i, one := range records {
		if one.Trial.ID != trials[i].ID {
			t.Fatalf("record %d is of trial %s, expected %s", i, one.Trial.ID, trials[i].ID)
		}
		on := one.Trial.Levels[study.ServerHost] == victim.host.Name || one.Trial.Levels[study.ClientHost] == victim.host.Name
		after := i >= begun && !study.AtOnce(trials[i], trials[begun])
		switch {
		case on && after && one.Outcome != record.Failed:
			t.Errorf("%s %s runs without a cable", one.Trial.ID, one.Trial.Cell)
		case on && after && !strings.Contains(one.Failure.Text, victim.host.Name+": shape its link"):
			t.Errorf("%s failed: %s", one.Trial.ID, one.Failure.Text)
		case !on && one.Outcome != record.OK:
			t.Errorf("%s %s needs no lost host and %s: %+v", one.Trial.ID, one.Trial.Cell, one.Outcome, one.Failure)
		}
		if on && after {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no trial of the lost host was left")
	}
	overlap(t, records[:begun])
	found, err := finding.Find(header, trials, records)
	if err != nil || found.Mesh == nil {
		t.Fatal(err)
	}
	lostOne := func(o mesh.Outlier) bool { return slices.Equal(o.Hosts, []string{victim.host.Name}) && o.Missing > 0 }
	if !slices.ContainsFunc(found.Mesh.Outliers, lostOne) || !strings.HasPrefix(found.Answer.Sentence, "Host "+victim.host.Name+" was lost: ") {
		t.Errorf("the report says %q", found.Answer.Sentence)
	}
}

// overlap holds the trials of a round to run at the same time: of some round one began before
// another had ended. A busy machine may start the ends of others one after the other.
func overlap(t *testing.T, records []record.Record) {
	t.Helper()
	ends := func(r record.Record) int64 { return r.StartedAt.UnixNano() + r.Timeline.EndNs }
	for i, one := range records {
		for _, other := range records[i+1:] {
			if study.AtOnce(one.Trial, other.Trial) && one.StartedAt.UnixNano() < ends(other) && other.StartedAt.UnixNano() < ends(one) {
				return
			}
		}
	}
	t.Errorf("no two of %d trials ran at the same time", len(records))
}
