package rig

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestEndsChooseTheirHosts(t *testing.T) {
	hosts := []Host{{Name: "node1"}, {Name: "node2"}, {Name: "node3"}}
	for _, c := range []struct {
		ends Ends
		want string
	}{
		{Ends{}, "[node1 node2 node3]"},
		{Ends{Server: "node2"}, "[node2 node1 node3]"},
		{Ends{Client: "node2"}, "[node1 node2]"},
		{Ends{Client: "node1"}, "[node2 node1]"},
		{Ends{Server: "node3", Client: "node1"}, "[node3 node1]"},
		{Ends{Server: "node3", Client: "node3"}, "[node3]"},
	} {
		chosen, err := c.ends.Choose(hosts)
		if got := fmt.Sprint(namesOf(chosen)); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v, expected %s", c.ends, got, err, c.want)
		}
	}
	if fmt.Sprint(namesOf(hosts)) != "[node1 node2 node3]" {
		t.Error("choosing has changed the rig's hosts")
	}
	_, err := Ends{Client: "nod2"}.Choose(hosts)
	if err == nil || !strings.Contains(err.Error(), `no host "nod2"; did you mean "node2"?`) {
		t.Errorf("a near name gave %v", err)
	}
}

// A trial runs on hosts of its network alone.
func TestEndsAreOnOneNetwork(t *testing.T) {
	hosts := []Host{{Name: "host-1", Network: "host"}, {Name: "host-2", Network: "host"}, {Name: "bridge-1", Network: "bridge"}, {Name: "bridge-2", Network: "bridge"}}
	for _, c := range []struct {
		ends Ends
		want string
	}{
		{Ends{Network: "bridge"}, "[bridge-1 bridge-2]"},
		{Ends{Network: "bridge", Server: "bridge-2"}, "[bridge-2 bridge-1]"},
		{Ends{Network: "bridge", Server: "host-1"}, `the rig has no host "host-1"; expected one of bridge-1, bridge-2`},
		{Ends{Network: "brige"}, `the rig has no network "brige"; did you mean "bridge"?`},
		{Ends{Server: "host-1"}, "the rig's hosts are on networks bridge, host, and the trial names none"},
	} {
		chosen, err := c.ends.Choose(hosts)
		got := fmt.Sprint(namesOf(chosen))
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s, expected %s", c.ends, got, c.want)
		}
	}
}

func TestErrorOfConcernsItsHosts(t *testing.T) {
	all, one, two := errors.New("all"), error(&HostError{"a", errors.New("one")}), error(&HostError{"b", errors.New("two")})
	for _, c := range []struct {
		err   error
		hosts []string
		want  string
	}{
		{nil, []string{"a"}, ""},
		{all, []string{"a"}, "all"},
		{one, []string{"a", "c"}, "a: one"},
		{one, []string{"b"}, ""},
		{errors.Join(one, two), []string{"b"}, "b: two"},
		{errors.Join(one, two), []string{"c"}, ""},
		{errors.Join(one, all), []string{"c"}, "all"},
		{fmt.Errorf("recover: %w", errors.Join(one, two)), []string{"c"}, ""},
		{fmt.Errorf("recover: %w", errors.Join(one, two)), []string{"b"}, "b: two"},
		{fmt.Errorf("recover: %w", errors.Join(one, all)), []string{"c"}, "all"},
		{fmt.Errorf("recover: %w", one), []string{"a"}, "recover: a: one"},
	} {
		got := ""
		if err := ErrorOf(c.err, c.hosts...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("of %v hosts %v get %q, expected %q", c.err, c.hosts, got, c.want)
		}
	}
}
