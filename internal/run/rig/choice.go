package rig

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/run/cpuset"
)

// Kind is one kind of rig. Each kind has a package that declares its Kind; package
// arrange lists them.
type Kind struct {
	Name    string   // "netns"
	Form    string   // as the user writes it: "netns[:N][?mtu=BYTES]"
	Options []string // its own keys after the question mark
	Links   bool     // in the place of N may stand the rate of its links: "netns:1Gbit"
	HostKey string   // the key of a rig file that says how a host is reached; "" where no file describes hosts
	Build   func(ctx context.Context, c Choice) (Rig, error)
}

// Choice is a rig as the user wrote it, on the command line or in a file, before
// it is built.
type Choice struct {
	Text     string            // as written: "netns:3?rate=1Gbit", or the file's name; errors begin with it
	Form     string            // how its kind is written
	Name     string            // in records: without the link, which is a factor
	Argument string            // between the colon and the question mark
	Options  map[string]string // after it
	Hosts    []Described       // of a file; nil for none
}

// Described is a host as a rig file describes it; the rig finds out what is
// absent.
type Described struct {
	Name      string   `yaml:"name"`      // in reports
	SSH       string   `yaml:"ssh"`       // rig ssh: ssh's destination
	Node      string   `yaml:"node"`      // rig slurm: the node that this is about
	Prefix    []string `yaml:"prefix"`    // rig prefix: argv that runs a command there
	Shell     bool     `yaml:"shell"`     // rig prefix: it hands its arguments to a shell there
	Address   string   `yaml:"address"`   // of the data network
	Interface string   `yaml:"interface"` // whose address that is
	CPUList   string   `yaml:"cpus"`      // that workers may use
	Leaf      string   `yaml:"leaf"`      // the switch that it hangs on: hosts with the same one are a group of a mesh
}

// Reached returns the keys by which the host can be reached, each with whether it
// was given.
func (d Described) Reached() map[string]bool {
	return map[string]bool{"ssh": d.SSH != "", "node": d.Node != "", "prefix": len(d.Prefix) > 0}
}

// Title is what records call the host.
func (d Described) Title() string {
	return cmp.Or(d.Name, d.SSH, d.Node, strings.Join(d.Prefix, " "))
}

// CPUs returns the CPUs that workers may use there; empty for all. A list that
// cannot be read was refused with the file.
func (d Described) CPUs() []int {
	set, _ := cpuset.Parse(d.CPUList)
	return set
}

// MaxHosts bounds the hosts of a rig.
const MaxHosts = 1024

// Errorf begins an error with the rig as it was written.
func (c Choice) Errorf(format string, values ...any) error {
	return fmt.Errorf("rig %q: %w", c.Text, fmt.Errorf(format, values...))
}

// Flag returns an option that is yes or no; false when it was not given.
func (c Choice) Flag(key string) (bool, error) {
	switch c.Options[key] {
	case "", "no":
		return false, nil
	case "yes":
		return true, nil
	}
	return false, c.Errorf("%s=%s; expected yes or no", key, c.Options[key])
}

// Count returns how many hosts were asked for; standard when no number was
// written.
func (c Choice) Count(standard int) (int, error) {
	if c.Argument == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(c.Argument)
	if err != nil {
		return 0, c.Errorf("%q is not a number of hosts; expected %s", c.Argument, c.Form)
	}
	return n, nil
}

// Bytes returns an option that is a size; 0 when it was not given.
func (c Choice) Bytes(key string) (int, error) {
	text, given := c.Options[key]
	if !given {
		return 0, nil
	}
	n, err := quantity.ParseBytes(text)
	if plain, e := strconv.Atoi(text); e == nil { // an MTU is written without its unit
		n, err = int64(plain), nil
	}
	if err != nil || n > 1<<31-1 {
		return 0, c.Errorf("%s=%s is not a size in bytes", key, text)
	}
	return int(n), nil
}

// Given returns those of some options that were given, as the user writes them; "" for none.
func (c Choice) Given(keys ...string) string {
	var all []string
	for _, key := range keys {
		if value := c.Options[key]; value != "" {
			all = append(all, key+"="+value)
		}
	}
	return strings.Join(all, "&")
}

// Named returns the name of a rig of so many hosts, with options that bear on figures; an
// empty one is none.
func Named(kind string, hosts int, options ...string) string {
	name := fmt.Sprintf("%s:%d", kind, hosts)
	if given := slices.DeleteFunc(options, func(o string) bool { return o == "" }); len(given) > 0 {
		name += "?" + strings.Join(given, "&")
	}
	return name
}

// RunName returns what the names of everything begin with that a rig makes for this run.
func RunName() string { return fmt.Sprintf("netdyno-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9) }

// Ends are the hosts on which the two ends of a trial run, by name, "" leaving an end to
// the rig's order, and the network that both are on; "" for the only one.
type Ends struct{ Server, Client, Network string }

// Choose returns the hosts of a rig as Seats takes them for these ends: the
// server's first. The error names a host or a network that the rig does not have, and
// the nearest that it has.
func (e Ends) Choose(hosts []Host) ([]Host, error) {
	if e == (Ends{}) || len(hosts) == 0 {
		return hosts, nil
	}
	hosts, err := onNetwork(hosts, e.Network)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{e.Server, e.Client} {
		if name != "" && !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name }) {
			return nil, fmt.Errorf("the rig has no host %q; %s", quantity.Clip(name, 80), quantity.Hint(name, namesOf(hosts)))
		}
	}
	server := cmp.Or(e.Server, firstBut(hosts, e.Client))
	chosen := slices.Clone(hosts)
	slices.SortStableFunc(chosen, func(a, b Host) int { return rank(a.Name == server) - rank(b.Name == server) })
	if e.Client == "" {
		return chosen, nil
	}
	return slices.DeleteFunc(chosen, func(h Host) bool { return h.Name != server && h.Name != e.Client }), nil
}

// firstBut returns the first host that is not the named one; on a rig of one host that
// host.
func firstBut(hosts []Host, name string) string {
	for _, h := range hosts {
		if h.Name != name {
			return h.Name
		}
	}
	return hosts[0].Name
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func namesOf(hosts []Host) []string {
	return each.Of(hosts, func(h Host) string { return h.Name })
}
