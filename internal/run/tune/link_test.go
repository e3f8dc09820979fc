package tune

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
)

// streamer is a transport with what races on a link, and what does not.
var streamer = contract.Transport{Name: "s", Options: []contract.Option{
	{Name: "send", Type: contract.TypeChoice, Default: "plain", Choices: []string{"plain", "zerocopy"}},
	{Name: "receive_buffer", Type: contract.TypeBytes, Default: 0.0},
	{Name: "receive", Type: contract.TypeChoice, Default: "read", Choices: []string{"read", "truncate"}},
}}

// card is a link by cards between hosts of which everything can be set, bbr aside.
func card() Link {
	return Link{
		Now: map[string]string{
			"interface": "ens1", "mtu": "1500", "net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.tcp_available_congestion_control": "cubic reno bbr",
			"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.core.busy_read": "0",
		},
		Refused: map[string]string{"net.ipv4.tcp_congestion_control=bbr": "node2: operation not permitted", "net.ipv4.tcp_wmem": "no such file"},
	}
}

func planned(t *testing.T, l Link, options ...string) (Field, string) {
	t.Helper()
	f, words, err := PlanLink(streamer, l, options, held(), 40)
	if err != nil {
		t.Fatal(err)
	}
	return f, strings.Join(words, "\n")
}

// Every option of the link's ends races by default, settings of the hosts too, as the
// commands that set them. An option that the ends lack is named with the reason.
func TestALinkRacesWhatItsEndsOffer(t *testing.T) {
	f, words := planned(t, card())
	for _, arm := range []string{
		"defaults", "connections-4", "threads-2", "chunk-1MiB", "send-zerocopy", "receive_buffer-1MiB", "tcp_congestion_control-reno",
		"tcp_rmem-1MiB", "tcp_rmem-64MiB", "busy_read-50", "link.mtu-9000B",
	} {
		if !slices.Contains(names(f), arm) {
			t.Errorf("%s does not race: %v", arm, names(f))
		}
	}
	for _, a := range f.Arms {
		if strings.Contains(a.Name, "bbr") || strings.Contains(a.Name, "wmem") || strings.Contains(a.Name, "truncate") || a.Name == "link.mtu-1500B" {
			t.Errorf("%s races", a.Name)
		}
		if _, set := a.Levels["connections"]; !set {
			t.Errorf("%s has no number of connections: %v", a.Name, a.Levels)
		}
	}
	if f.Arms[0].Levels["connections"] != "1" || f.As["link.mtu"] != "ip link set dev ens1 mtu {value}" || f.As["sysctl.net.ipv4.tcp_rmem"] != `sysctl -w net.ipv4.tcp_rmem="{value}"` {
		t.Errorf("base %v, as %v", f.Arms[0].Levels, f.As)
	}
	for _, want := range []string{"sysctl.net.ipv4.tcp_congestion_control: node2: operation not permitted", "sysctl.net.ipv4.tcp_wmem: no such file", "sendfile: s cannot; netdyno tune go-net --link races it"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said:\n%s", want, words)
		}
	}
}

// Where no card carries the bytes, what only a card can do does not race.
func TestLoopbackHasNoCard(t *testing.T) {
	l := card()
	l.Loopback, l.Virtual, l.CPUs = true, true, 1
	f, words := planned(t, l)
	if all := strings.Join(names(f), " "); strings.Contains(all, "mtu") || strings.Contains(all, "busy_read") || strings.Contains(all, "zerocopy") || slices.Contains(names(f), "threads-1") {
		t.Errorf("on loopback race %s", all)
	}
	for _, want := range []string{"link.mtu: loopback's frames", "sysctl.net.core.busy_read: no card", "opt.send: zerocopy copies anyway"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not said:\n%s", want, words)
		}
	}
	if tries := strings.Join(l.Try(), " "); strings.Contains(tries, "mtu") || !strings.Contains(tries, "tcp_congestion_control=bbr") {
		t.Errorf("tried are %s", tries)
	}
}

func TestOptionsOfALinkAreNamed(t *testing.T) {
	if f, words := planned(t, card(), "chunk", "opt.receive_buffer", "tcp_rmem"); len(f.Options) != 3 || words != "" || f.Arms[0].Levels["connections"] != "" {
		t.Errorf("options %v, base %v, words %q", f.Options, f.Arms[0].Levels, words)
	}
	if _, _, err := PlanLink(streamer, card(), []string{"chunks"}, held(), 40); err == nil || !strings.Contains(err.Error(), "chunk") {
		t.Errorf("chunks: %v", err)
	}
	f, _, err := PlanLink(streamer, card(), nil, func(factor string) bool { return factor == "connections" || factor == "opt.server.receive_buffer" }, 40)
	if all := strings.Join(names(f), " "); err != nil || strings.Contains(all, "connections") || strings.Contains(all, "receive_buffer") {
		t.Errorf("with what the user set race %s, %v", all, err)
	}
}
