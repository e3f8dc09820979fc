package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// harmed is a rig of namespaces of which one host's workers get the CPU time that
// nobody else wants, while somebody wants all of it, and one host's cable sends at a
// fraction of the others' rate.
type harmed struct {
	*namespaces.Rig
	slowHost, slowCable string // by name; "" for none
	rate                string // of that cable, as tc(8) has it
}

// Hosts implements rig.Rig.
func (h harmed) Hosts() []rig.Host {
	hosts := h.Rig.Hosts()
	for i := range hosts {
		if hosts[i].Name == h.slowHost { // chrt(1): SCHED_IDLE, which any user may choose
			hosts[i].Prefix = append(slices.Clip(hosts[i].Prefix), "chrt", "--idle", "0")
		}
	}
	return hosts
}

// Shape implements rig.Shaper.
func (h harmed) Shape(ctx context.Context, link record.Link, seed uint64) error {
	if err := h.Rig.Shape(ctx, link, seed); err != nil || h.slowCable == "" {
		return err
	}
	for _, host := range h.Rig.Hosts() {
		if host.Name == h.slowCable {
			_, err := host.Ask(ctx, nil, "tc", "qdisc", "change", "dev", device, "root", "handle", "1:", "tbf", "rate", h.rate, "burst", "128k", "latency", "20ms")
			return err
		}
	}
	return nil
}

// The mesh that is measured: as many hosts as two CPUs can keep busy at this rate in
// disjoint pairs, with a cable of 40 % of it.
const (
	meshLink = "link.rate=50Mbit"
	slowRate = "20mbit"
	device   = "nd0" // of a host of rig netns (docs/rigs.md)
)

// meshHosts is how many hosts the meshes have; NETDYNO_MESH_HOSTS is another number.
func meshHosts() int {
	if n, err := strconv.Atoi(os.Getenv("NETDYNO_MESH_HOSTS")); err == nil {
		return n
	}
	return 32
}

// meshed asks whether a mesh names the host that was slowed and the cable that was,
// and nobody else, and nobody among equals.
func meshed(ctx context.Context, p *pipeline) ([]answer, error) {
	n := meshHosts()
	slowHost, slowCable := fmt.Sprintf("node%d", n/4+1), fmt.Sprintf("node%d", n/2+2)
	hogs, err := startHogs()
	if err != nil {
		return nil, err
	}
	defer hogs.stop()
	var answers []answer
	for _, c := range []struct{ what, host, cable, want string }{
		{fmt.Sprintf("a slowed host and a slowed cable among %d", n), slowHost, slowCable, "host " + slowHost + ", cable " + slowCable},
		{fmt.Sprintf("%d equal hosts", n), "", "", ""},
	} {
		began := time.Now()
		found, err := p.mesh(ctx, n, harmed{slowHost: c.host, slowCable: c.cable, rate: slowRate})
		if err != nil {
			return answers, err
		}
		got := outliersOf(found)
		fmt.Fprintf(os.Stderr, "mesh: %s in %s: %s\n", c.what, time.Since(began).Round(time.Second), strings.Join(found.Answer.Sentences, " "))
		answers = append(answers, answer{c.what + " named", or(got, "nobody"), or(c.want, "nobody"), got == c.want})
	}
	return answers, nil
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// outliersOf lists what a mesh names.
func outliersOf(f finding.Findings) string {
	if f.Mesh == nil {
		return "no mesh"
	}
	var all []string
	for _, o := range f.Mesh.Outliers {
		all = append(all, string(o.Kind)+" "+strings.Join(o.Hosts, " → "))
	}
	return strings.Join(all, ", ")
}

// mesh runs one mesh of n namespaces.
func (p *pipeline) mesh(ctx context.Context, n int, on harmed) (f finding.Findings, err error) {
	if on.Rig, err = namespaces.Build(namespaces.Options{Hosts: n}); err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	s, err := source.ParseArgs([]string{"mesh", meshLink, "placement=free"}, os.ReadFile)
	if err != nil {
		return f, err
	}
	var names []string
	for _, h := range on.Hosts() {
		names = append(names, h.Name)
	}
	if s, err = s.OnHosts(names); err != nil {
		return f, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return f, err
	}
	header := record.Header{Schema: record.Schema, CreatedAt: time.Now().UTC(), Study: study.Summary(s), Facts: p.facts}
	b := &bench.Bench{Rig: on, Catalog: p.bench.Catalog, Meter: p.bench.Meter}
	records, err := session.Conduct(ctx, b, trials)
	if err != nil {
		return f, err
	}
	if err := p.keepMesh(s, header, trials, records); err != nil {
		return f, err
	}
	return finding.Find(header, trials, records)
}

// keepMesh leaves a run's directory for netdyno report, where -record names one.
func (p *pipeline) keepMesh(s *study.Study, header record.Header, trials []record.Trial, records []record.Record) error {
	if p.record == "" {
		return nil
	}
	text, err := source.YAML(s)
	if err != nil {
		return err
	}
	dir := session.Directory(filepath.Join(p.record, "mesh-"+time.Now().Format("20060102-150405")))
	file, err := dir.Create(text, header, trials)
	if err != nil {
		return err
	}
	for _, r := range records {
		err = errors.Join(err, file.Append(r))
	}
	return errors.Join(err, file.Close())
}

// hogs are processes that want all CPU time that nobody else wants, on every CPU.
type hogs []*exec.Cmd

func startHogs() (all hogs, err error) {
	for range runtime.NumCPU() {
		c := exec.Command("nice", "-n", "19", "yes") // its output goes nowhere
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			all.stop()
			return nil, fmt.Errorf("start a process that takes the CPUs: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

func (h hogs) stop() {
	for _, c := range h {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()         // it was killed
	}
}
