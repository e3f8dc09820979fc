package tool

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
)

// What perftest 6.06 printed until it was interrupted: a line a second.
func TestPerftestLines(t *testing.T) {
	for name, rate := range map[string]int64{"ib_write_bw": 0, "ib_read_bw": 0, "ib_send_bw": 0} {
		text := recorded(t, name+".txt")
		s, err := readPerftest(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		lines := strings.Count(string(text), "\n 65536 ")
		if lines < 2 || s.sent == 0 || s.sent%65536 != 0 || s.values["bytes_per_s"] <= float64(rate) {
			t.Errorf("%s: %d lines, %+v", name, lines, s)
		}
	}
	s, err := readPerftest([]byte("#bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 65536      16   0.00    2.00   0.000032\n 65536      32   0.00    4.00   0.000064\n"))
	if err != nil || s.sent != 48*65536 || s.values["bytes_per_s"] != 3<<20 {
		t.Errorf("%+v, error %v; want 48 messages, 3 MiB a second", s, err)
	}
}

func TestPerftestOfAnotherVersionIsRefused(t *testing.T) {
	if err := checkPerftest("ib_send_bw", "Version: 6.06"); err != nil {
		t.Error(err)
	}
	for said, want := range map[string]string{
		"Version: 5.96": "version 5.96 of perftest, expected 6", "": `says ""`, "ib_send_bw: not found": "not found",
	} {
		if err := checkPerftest("ib_send_bw", said); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", said, err, want)
		}
	}
	for text, want := range map[string]string{
		" #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n":                        "another version?",
		" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n 65536 1000 0 10.5\n":    "has 4 columns",
		" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n 65536 1000 0 nan 0.1\n": "holds no sizes",
		" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n -1 1000 0 1.0 0.1\n":    "holds no sizes",
	} {
		if _, err := readPerftest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func FuzzPerftest(f *testing.F) {
	for _, name := range []string{"ib_write_bw.txt", "ib_read_bw.txt", "ib_send_bw.txt"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := readPerftest(text)
		if err == nil && (s.sent < 0 || s.values["bytes_per_s"] < 0) {
			t.Fatalf("%q gives %+v", text, s)
		}
	})
}

// port makes the files of a port of a card, or of Soft-RoCE.
func port(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	base := map[string]string{
		"sys/class/infiniband/rxe0/ports/1/state":                 "4: ACTIVE",
		"sys/class/infiniband/rxe0/ports/1/link_layer":            "Ethernet",
		"sys/class/infiniband/rxe0/ports/1/gids/0":                "fe80:0000:0000:0000:5439:3fff:fe63:b77d",
		"sys/class/infiniband/rxe0/ports/1/gids/1":                "0000:0000:0000:0000:0000:ffff:0a4d:0001",
		"sys/class/infiniband/rxe0/ports/1/gids/2":                "0000:0000:0000:0000:0000:0000:0000:0000",
		"sys/class/infiniband/rxe0/ports/1/gid_attrs/types/1":     "RoCE v2",
		"sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/1":     "eth1",
		"sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts": "1700",
		"sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts": "1700",
		"sys/class/net/eth1/mtu":                                  "9000",
	}
	for _, set := range []map[string]string{base, files} {
		for name, text := range set {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestPortOfAnAddress(t *testing.T) {
	address := netip.MustParseAddr("10.77.0.1")
	p, err := portOf(port(t, nil), address)
	if err != nil || p.device != "rxe0" || p.port != "1" || p.gid != "1" || p.mtuBytes != 4096 || !p.ethernet {
		t.Errorf("%+v, error %v", p, err)
	}
	if p, err := portOf(port(t, map[string]string{"sys/class/net/eth1/mtu": "1500"}), address); err != nil || p.mtuBytes != 1024 {
		t.Errorf("on Ethernet's MTU: %+v, error %v; want 1024", p, err)
	}
	for want, c := range map[string]struct{ root, address string }{
		"/sys/class/infiniband does not exist":                           {t.TempDir(), "10.77.0.1"},
		"carries address 10.77.0.2; there are fe80::5439:3fff:fe63:b77d": {port(t, nil), "10.77.0.2"},
		"rxe0:1 is 1: DOWN": {port(t, map[string]string{"sys/class/infiniband/rxe0/ports/1/state": "1: DOWN"}), "10.77.0.1"},
	} {
		if _, err := portOf(c.root, netip.MustParseAddr(c.address)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A hundred messages of 64 KiB were 1,700 packets at an end of their own port, sent and
// received together, and as many again where both ends use one; on a card, bytes tell.
func TestMessagesOfPackets(t *testing.T) {
	x := contract.Exchange{UpBytes: 1 << 20, DownBytes: 1, Stream: contract.StreamUp}
	d := &deviceCounters{role: contract.Client, exchange: x, shape: messageShape{bytes: 65536, packets: 16, answers: 1}, up: true}
	if got := d.messages(portCounts{sentPackets: 1600, receivedPackets: 100}); got != 100 {
		t.Errorf("%d messages at one end, want 100", got)
	}
	d.both = true
	if got := d.messages(portCounts{sentPackets: 1700, receivedPackets: 1700}); got != 100 {
		t.Errorf("%d messages of both ends, want 100", got)
	}
	d.port.ethernet = true
	if got := d.messages(portCounts{1700, 1700, 100*65536 + 1700*58, 1}); got != 100 {
		t.Errorf("%d messages by bytes, want 100", got)
	}
	ping := &deviceCounters{role: contract.Client, shape: messageShape{bytes: 64, packets: 1, answers: 1}, pingPong: true, both: true}
	if got := ping.messages(portCounts{sentPackets: 400, receivedPackets: 400}); got != 100 {
		t.Errorf("%d round trips, want 100", got)
	}
}

// Sums begin where they are told to and never fall.
func TestDeviceCountersBegin(t *testing.T) {
	root := port(t, nil)
	p, err := portOf(root, netip.MustParseAddr("10.77.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	d := &deviceCounters{
		port: p, role: contract.Server, exchange: contract.Exchange{UpBytes: 131072, DownBytes: 1, Stream: contract.StreamUp},
		shape: messageShape{bytes: 65536, packets: 16, answers: 1}, up: true, both: true, connections: 1,
	}
	set := func(packets string) {
		for _, name := range []string{"sent_pkts", "rcvd_pkts"} {
			if err := os.WriteFile(filepath.Join(p.directory, "hw_counters", name), []byte(packets), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := d.readCounters(); got.ReceivedBytes != 0 || got.Exchanges != 0 {
		t.Errorf("at first %+v, want nothing", got)
	}
	set("1870") // ten messages more
	if got := d.readCounters(); got.ReceivedBytes != 10*65536 || got.SentBytes != 0 || got.Exchanges != 5 {
		t.Errorf("%+v, want 10 messages and 5 exchanges", got)
	}
	set("1700")
	if got := d.readCounters(); got.ReceivedBytes != 10*65536 {
		t.Errorf("the sum fell to %+v", got)
	}
	set("2000")
	d.begin()
	if got := d.readCounters(); got.ReceivedBytes != 0 {
		t.Errorf("after it began %+v, want nothing", got)
	}
	if err := os.Remove(filepath.Join(p.directory, "hw_counters/sent_pkts")); err != nil {
		t.Fatal(err)
	}
	if d.readCounters(); d.err() == nil || !strings.Contains(d.err().Error(), "no counters of packets") {
		t.Errorf("error %v, want one that names the counters", d.err())
	}
}

// What a program cannot carry out is refused in words.
func TestPerftestRefusals(t *testing.T) {
	bw, lat := perftest{name: "ib_write_bw"}, perftest{name: "ib_send_lat", lat: true}
	read := perftest{name: "ib_read_bw", down: true}
	stream := func(s contract.Stream, up, down, chunk int64) contract.Setup {
		return contract.Setup{Role: contract.Client, Exchange: contract.Exchange{UpBytes: up, DownBytes: down, Stream: s, ChunkBytes: chunk}, Load: contract.Load{Connections: 1}}
	}
	for _, c := range []struct {
		of    perftest
		setup contract.Setup
		want  string
	}{
		{bw, stream(contract.StreamUp, 4<<20, 1, 65536), ""},
		{bw, stream(contract.StreamUp, 1000, 1, 0), ""},
		{read, stream(contract.StreamDown, 1, 4<<20, 65536), ""},
		{lat, stream("", 64, 64, 0), ""},
		{read, stream(contract.StreamUp, 4<<20, 1, 65536), ""},
		{bw, stream(contract.StreamBoth, 4<<20, 4<<20, 65536), "one way and nothing else"},
		{bw, stream("", 64, 64, 0), "one way and nothing else"},
		{bw, stream(contract.StreamUp, 100_000, 1, 65536), "a multiple of its messages"},
		{bw, stream(contract.StreamUp, 64<<20, 1, 16<<20), "expected 1 to 8388608"},
		{lat, stream("", 64, 65, 0), "expected both equal"},
		{lat, stream(contract.StreamUp, 64, 64, 0), "expected no stream"},
	} {
		err := c.of.refuse(c.setup)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.of.name, err, c.want)
		}
	}
}
