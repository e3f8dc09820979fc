package tool

import (
	"maps"
	"os"
	"strings"
	"testing"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What iperf3 3.12 and iperf 2.1.8 printed when they were interrupted.
func TestBulkStatements(t *testing.T) {
	iperf2 := flow{port: "15303"}
	for _, c := range []struct {
		file           string
		read           func(flow, []byte, window) (selfReport, error)
		sent, received int64
		values         map[string]float64 // whole numbers of it
	}{
		{"iperf3-up.json", readIperf3, 2177105920, 0, map[string]float64{"sent_bytes_per_s": 1786529484, "retransmits": 10}},
		{"iperf3-down.json", readIperf3, 0, 2462842880, map[string]float64{"received_bytes_per_s": 2021507387}},
		{"iperf3-both.json", readIperf3, 1132462080, 977797120, map[string]float64{"sent_bytes_per_s": 922346103, "received_bytes_per_s": 796377538, "retransmits": 8}},
		{"iperf2-up.csv", readIperf2, 260177980 + 272629820, 0, map[string]float64{"sent_bytes_per_s": (2024845604 + 2157173746) / 8}},
		{"iperf2-down.csv", readIperf2, 0, 146732348 + 147059445, map[string]float64{"received_bytes_per_s": (1175976718 + 1177932662) / 8}},
		{"iperf2-both.csv", readIperf2, 107085884 + 146800700, 112194240 + 141947637, map[string]float64{
			"sent_bytes_per_s": (805383347 + 1095523524) / 8, "received_bytes_per_s": (842990515 + 1058467504) / 8,
		}},
	} {
		s, err := c.read(iperf2, recorded(t, c.file), window{})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		whole := map[string]float64{}
		for name, v := range s.values {
			whole[name] = float64(int64(v))
		}
		if s.sent != c.sent || s.received != c.received || !maps.Equal(whole, c.values) {
			t.Errorf("%s: sent %d, received %d, %v; want %d, %d, %v", c.file, s.sent, s.received, whole, c.sent, c.received, c.values)
		}
	}
}

func TestIperf3Error(t *testing.T) {
	for text, want := range map[string]string{
		string(recorded(t, "iperf3-refused.json")): "unable to connect to server: Connection refused",
		string(recorded(t, "iperf3-up.json")):      "interrupt - the client has terminated",
		`{"error":"the server is busy running a test. try again later"}`: "the server is busy running a test. try again later " +
			"(an iperf3 server takes one test at a time: with several clients, set listeners to the number of connections)",
		"iperf3: killed": "",
	} {
		if got := iperf3Error([]byte(text)); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestBulkStatementsRefuse(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		read             func(flow, []byte, window) (selfReport, error)
	}{
		{"no JSON", "iperf3: error - unable to connect", "read iperf3's JSON", readIperf3},
		{"refused", string(recorded(t, "iperf3-refused.json")), "unable to connect to server: Connection refused", readIperf3},
		{"no sum", `{"end":{}}`, "no sum of what the client sent", readIperf3},
		{"another type", `{"end":{"sum_sent":{"bytes":"many"}}}`, "read iperf3's JSON", readIperf3},
		{"cut off", string(recorded(t, "iperf3-up.json")[:1000]), "read iperf3's JSON", readIperf3},
		{"nothing", "", "no line of a stream", readIperf2},
		{"the report for people", "[  1] 0.0-1.0 sec  1.95 GBytes  16.4 Gbits/sec\n", "a line of 1 fields", readIperf2},
		{"another port", "0,h,1,h,2,1,0.0-1.0,5,40\n", "between the ports 1 and 2, expected one of them to be 15303", readIperf2},
		{"no bytes", "0,h,1,h,15303,1,0.0-1.0,5M,40\n", `"5M" bytes`, readIperf2},
		{"no rate", "0,h,1,h,15303,1,0.0-1.0,5,-1\n", `"-1" bits per second`, readIperf2},
		{"a quote", "0,h,1,\"h,15303,1,0.0-1.0,5,-1\n", "read iperf's CSV", readIperf2},
	} {
		if s, err := c.read(flow{port: "15303"}, []byte(c.text), window{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error that says %q", c.name, s, err, c.want)
		}
	}
}

// The log holds 100 messages from 25086.320173734 to 25087.604129508.
func TestSockperfLog(t *testing.T) {
	const second = 1_000_000_000
	summary, log := recorded(t, "sockperf.txt"), "testdata/sockperf.log"
	s, err := readSockperf(flow{size: 100, log: log}, summary, window{25086_330000000, 25087_602222376, true})
	if err != nil {
		t.Fatal(err)
	}
	// The last but one came back at the very end of the window, which is not in it.
	if s.service.Count() != 94 || s.service.MaxNs() < 13_570_124 || s.service.MaxNs() > 13_600_000 {
		t.Errorf("%d round trips, the longest %d ns; want 94 and 13570124", s.service.Count(), s.service.MaxNs())
	}
	if s.sent != 18900 || s.received != 18800 || s.values["round_trip_mean_us"] != 3412.745 {
		t.Errorf("the summary is %+v", s)
	}
	for _, c := range []struct {
		name string
		text string
		w    window
		want string
	}{
		{"the window opened before", string(recorded(t, "sockperf.log")), window{25086_000000000, 25087 * second, true}, "0.32 s after the window did"},
		{"the window closed after", string(recorded(t, "sockperf.log")), window{25086_400000000, 25090 * second, true}, "2.40 s before the window did"},
		{"nothing", "", window{}, "is missing"},
		{"no message", "packet, txTime(sec), rxTime(sec), rtt(usec)\n---\n", window{}, "no message"},
		{"one-way times", "packet, txTime(sec), rxTime(sec), latency(usec)\n", window{}, "is missing"},
		{"fewer fields", "packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 1.000000000\n", window{}, "expected 4 fields"},
		{"backwards", "packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 2.000000000, 1.000000000, 5\n", window{}, "before it was sent"},
		{"fewer digits", "packet, txTime(sec), rxTime(sec), rtt(usec)\n0, 2.0, 3.0, 5\n", window{}, "no time in seconds with 9 decimals"},
		{"no digits", "packet, txTime(sec), rxTime(sec), rtt(usec)\n0, -1.000000000, 3.000000000, 5\n", window{}, "invalid syntax"},
	} {
		if h, err := readLog(strings.NewReader(c.text), c.w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error that says %q", c.name, h, err, c.want)
		}
	}
	if s, err := readSockperf(flow{size: 100, log: log}, []byte("no messages were sent"), window{}); err == nil {
		t.Errorf("a summary without totals gives %+v", s)
	}
	if s, err := readSockperf(flow{size: 100, log: "testdata/none"}, summary, window{known: true}); err == nil {
		t.Errorf("without a log: %+v", s)
	}
}

func FuzzIperf3(f *testing.F) {
	for _, name := range []string{"iperf3-up.json", "iperf3-down.json", "iperf3-both.json", "iperf3-refused.json"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) { plausible(t, readIperf3, text) })
}

func FuzzIperf2(f *testing.F) {
	for _, name := range []string{"iperf2-up.csv", "iperf2-down.csv", "iperf2-both.csv"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) { plausible(t, readIperf2, text) })
}

func FuzzSockperf(f *testing.F) {
	f.Add(string(recorded(f, "sockperf.log")), recorded(f, "sockperf.txt"))
	f.Fuzz(func(t *testing.T, log string, summary []byte) {
		plausible(t, func(f flow, text []byte, _ window) (selfReport, error) { return readSummary(text, f.size) }, summary)
		w := window{1, 1 << 62, true}
		if h, err := readLog(strings.NewReader(log), window{1, 2, true}); err == nil && h.Count() > 1 {
			t.Fatalf("%d round trips in a nanosecond of %q", h.Count(), log)
		}
		if h, err := readLog(strings.NewReader(log), w); err == nil && h.Count() > int64(strings.Count(log, "\n")+1) {
			t.Fatalf("%d round trips in %q", h.Count(), log)
		}
	})
}

// What muduo's pingpong_client and evpp's benchmark_pingpong_client printed.
func TestPingPongReports(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		"muduo.txt": {"received_bytes": 298319872, "messages": 18208, "received_bytes_per_s": 284.5 * (1 << 20)},
		"evpp.txt":  {"received_bytes": 821985280, "messages": 50170, "received_bytes_per_s": 783.906 * (1 << 20)},
	} {
		s, err := readPingPong(file, recorded(t, file))
		if err != nil || s.sent != int64(want["received_bytes"]) || s.received != s.sent || !maps.Equal(s.values, want) {
			t.Errorf("%s: %+v, %v; want %v", file, s, err, want)
		}
	}
	whole := string(recorded(t, "muduo.txt"))
	for name, c := range map[string]struct{ text, want string }{
		"nothing":       {"", `no line says "total bytes read"`},
		"a short load":  {strings.ReplaceAll(whole, "284.5 MiB", "inf MiB"), `no line says "MiB/s throughput"`},
		"cut off":       {whole[:strings.Index(whole, " total messages")], `no line says "total messages read"`},
		"out of bounds": {strings.ReplaceAll(whole, "298319872", "12345678901234567890"), `no line says "total bytes read"`},
	} {
		if s, err := readPingPong("muduo", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error that says %q", name, s, err, c.want)
		}
	}
}

func FuzzPingPong(f *testing.F) {
	for _, name := range []string{"muduo.txt", "evpp.txt"} {
		f.Add(recorded(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plausible(t, func(_ flow, text []byte, _ window) (selfReport, error) { return readPingPong("muduo", text) }, text)
	})
}

// plausible demands an error or amounts that can be.
func plausible(t *testing.T, read func(flow, []byte, window) (selfReport, error), text []byte) {
	t.Helper()
	s, err := read(flow{port: "15303", size: 100}, text, window{})
	if err != nil {
		return
	}
	if s.sent < 0 || s.received < 0 || len(s.values) == 0 {
		t.Fatalf("%q gives %+v", text, s)
	}
	for name, v := range s.values {
		if !(v >= 0) {
			t.Fatalf("%q gives %s = %v", text, name, v)
		}
	}
}
