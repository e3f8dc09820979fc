package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/run/study"
)

const swept = `
study: x
hold: {transport: go-grpc, connections: 1, inflight: 1, window: 1s}
vary:
  arm:
    none: {opt.b: 0B}
    some: {opt.b: 32KiB}
    many: {opt.b: 1MiB}
sweeps:
  - name: calls
    vary: {inflight: [1, 10], arm: [none, some]}
  - name: connections
    vary: {connections: [1, 100], arm: [many]}
  - name: large
    hold: {request: 1MiB}
    vary: {connections: [100]}
compare: {baseline: some}
blocks: 2
probes: 1
expect:
  - {source: s, under: {request: 1MiB, connections: 100, inflight: 1}, that: exchanges_per_s of none = 2 × some}
  - {title: memory, that: server.rss_bytes per connections = 2 × opt.b at inflight=1}
charts:
  - {title: calls, kind: lines, metric: exchanges_per_s, x: inflight, by: arm, where: {connections: 1}, arms: [none, some]}
  - {title: all, kind: front, metric: exchanges_per_s, against: server.rss_bytes, where: {connections: 100}}
`

func mustFile(t *testing.T, text string) *study.Study {
	t.Helper()
	s, err := ParseFile("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runs counts the trials of the blocks, or of the probes, by cell and arm.
func runs(t *testing.T, s *study.Study, probes bool) string {
	t.Helper()
	trials, _, err := own(s)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, tr := range trials {
		if tr.Probe == probes {
			count[tr.Cell+": "+tr.Arm]++
		}
	}
	var lines []string
	for _, pair := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprintf("%s ×%d", pair, count[pair]))
	}
	return strings.Join(lines, "\n")
}

func TestAPlanIsTheUnionOfItsSweeps(t *testing.T) {
	s := mustFile(t, swept)
	want := `request=100B connections=1 inflight=10: none ×2
request=100B connections=1 inflight=10: some ×4
request=100B connections=1 inflight=1: many ×2
request=100B connections=1 inflight=1: none ×2
request=100B connections=1 inflight=1: some ×4
request=100B connections=100 inflight=1: many ×2
request=100B connections=100 inflight=1: some ×4
request=1MiB connections=100 inflight=1: many ×2
request=1MiB connections=100 inflight=1: none ×2
request=1MiB connections=100 inflight=1: some ×4`
	if got := runs(t, s, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	once := strings.NewReplacer("×2", "×1", "×4", "×1").Replace(want)
	if got := runs(t, s, true); got != once {
		t.Errorf("probes\n%s\nwant\n%s", got, once)
	}
	sum := study.Summary(s)
	if got := fmt.Sprint(sum.Vary); got != "[{arm [none some many]} {request [100B 1MiB]} {connections [1 100]} {inflight [1 10]}]" {
		t.Errorf("varies %s", got)
	}
	for _, f := range []string{"inflight", "connections", "request", "opt.b"} {
		if l, held := sum.Hold[f]; held {
			t.Errorf("%s is held at %s, though sweeps differ in it", f, l)
		}
	}
	if sum.Hold["window"] != "1s" || sum.Hold["response"] != "100B" || len(sum.Charts) != 2 || len(sum.Expect) != 2 {
		t.Errorf("got %+v", sum)
	}
}

// An arm may be another program in each sweep: a language has one for every wire.
func TestArmsHaveLevelsOfTheirOwnInASweep(t *testing.T) {
	const text = `
study: x
vary:
  arm:
    go: {label: Go}
    cpp: {label: C++, opt.server.b: 1}
    rust: {label: Rust}
sweeps:
  - name: echo
    hold: {client: go-epoll}
    vary:
      connections: [1, 10]
      arm: {go: {server: go-net}, cpp: {server: asio}, rust: {server: tokio}}
  - name: web
    hold: {client: go-http1}
    vary: {arm: {go: {server: go-http1}, rust: {server: hyper}}}
blocks: 2
`
	s := mustFile(t, text)
	want := `client=go-epoll connections=10: cpp ×2
client=go-epoll connections=10: go ×4
client=go-epoll connections=10: rust ×2
client=go-epoll connections=1: cpp ×2
client=go-epoll connections=1: go ×4
client=go-epoll connections=1: rust ×2
client=go-http1 connections=50: go ×4
client=go-http1 connections=50: rust ×2`
	if got := runs(t, s, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	trials, _, err := own(s)
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]string{"go-epoll go": "go-net", "go-epoll cpp": "asio", "go-epoll rust": "tokio", "go-http1 go": "go-http1", "go-http1 rust": "hyper"}
	for _, tr := range trials {
		if want := servers[tr.Levels["client"]+" "+tr.Arm]; tr.Levels["server"] != want || (tr.Levels["opt.server.b"] == "1") != (tr.Arm == "cpp") {
			t.Errorf("%s of %s: levels %v, want server %s", tr.Arm, tr.Cell, tr.Levels, want)
		}
	}
	if l, held := study.Summary(s).Hold["server"]; held {
		t.Errorf("server is held at %s, though arms differ in it", l)
	}
	open := func(string) ([]byte, error) { return []byte(text), nil }
	fewer, err := ParseArgs([]string{"x.yaml", "arm=go,cpp"}, open)
	if err != nil {
		t.Fatal(err)
	}
	if got := runs(t, fewer, false); strings.Contains(got, "rust") || !strings.Contains(got, "go-http1 connections=50: go") {
		t.Errorf("arm=go,cpp:\n%s", got)
	}
	written, err := YAML(fewer)
	if err != nil {
		t.Fatal(err)
	}
	if again := runs(t, mustFile(t, string(written)), false); again != runs(t, fewer, false) {
		t.Errorf("arm=go,cpp, written and read again:\n%s\n%s", again, written)
	}
	if _, err := ParseArgs([]string{"x.yaml", "server=asio"}, open); err == nil || !strings.Contains(err.Error(), "arm go sets it") {
		t.Errorf("server=asio: %v, want a refusal that names the arm", err)
	}
}

func TestProbesComeAfterTheBlocks(t *testing.T) {
	trials, _, err := mustFile(t, swept).Plan()
	if err != nil {
		t.Fatal(err)
	}
	for i, tr := range trials {
		if tr.Probe != (tr.Block > 8) || tr.Probe && tr.Repeat || tr.Order != i || i > 0 && trials[i-1].ID >= tr.ID {
			t.Errorf("trial %d is %+v", i, tr)
		}
	}
	if last := trials[len(trials)-1]; last.Block != 9 || !strings.HasPrefix(last.ID, "p01-") {
		t.Errorf("the last is %s of block %d, want the first probes", last.ID, last.Block)
	}
}

// A sweep of factors that vary together is one sweep for each level.
func TestFactorsOfASweepVaryTogether(t *testing.T) {
	const study = "study: s\nvary: {transport: [a, b]}\nsweeps:\n"
	short := mustFile(t, study+"  - {name: echo, label: back, hold: {connections: 4}, vary: {request+response: [1B, 4KiB], inflight: [1, 2]}}\n")
	long := mustFile(t, study+`  - {name: echo-1B, label: 1 B back, hold: {connections: 4, request: 1B, response: 1B}, vary: {inflight: [1, 2]}}
  - {name: echo-4KiB, label: 4 KiB back, hold: {connections: 4, request: 4KiB, response: 4KiB}, vary: {inflight: [1, 2]}}
`)
	if text(short) != text(long) {
		t.Errorf("%s\nwant %s", text(short), text(long))
	}
	for _, bad := range []string{"hold: {request: 2B}, vary: {request+response: [1B]}", "vary: {request+responses: [1B]}", "vary: {request+response: [[1B]]}"} {
		if _, err := ParseFile("s.yaml", []byte(study+"  - {name: echo, "+bad+"}\n")); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestACellWithoutALevelIsNamedWithoutIt(t *testing.T) {
	s := mustFile(t, `
study: x
hold: {transport: go-grpc}
blocks: 8
sweeps:
  - {name: bytes, hold: {response: 1KiB}}
  - {name: words, hold: {codec: proto, message: simple}}
  - {name: fixed, hold: {amount: 100}}
  - {name: other, hold: {window: 1s}}
`)
	want := `response=100B codec=bytes window=1s amount=0: go-grpc ×16
response=100B codec=bytes amount=100: go-grpc ×16
response=1KiB codec=bytes window=500ms amount=0: go-grpc ×16
codec=proto message=simple window=500ms amount=0: go-grpc ×16`
	got := strings.Split(runs(t, s, false), "\n")
	wanted := strings.Split(want, "\n")
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// Any sweeps plan what the same sweeps plan as studies of their own.
func TestSweepsPlanWhatTheyPlanAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := func(name string, all ...string) string {
			n := rapid.IntRange(1, len(all)).Draw(t, name)
			return fmt.Sprintf("%s: [%s]", name, strings.Join(rapid.Permutation(all).Draw(t, name+" levels")[:n], ", "))
		}
		head := "study: x\nhold: {connections: 1, request: 1KiB}\nblocks: 1\ncompare: {baseline: a}\n"
		sweeps, pairs := "sweeps:\n", map[string]bool{}
		for i := range rapid.IntRange(1, 4).Draw(t, "sweeps") {
			parts := rapid.Permutation([]string{
				some("connections", "1", "2", "30"), some("inflight", "1", "4"), some("opt.x", "low", "high"), some("request", "1KiB", "2KiB"),
			}).Draw(t, "order")[:rapid.IntRange(0, 4).Draw(t, "factors")]
			vary := "{" + strings.Join(append(parts, some("transport", "a", "b", "c")), ", ") + "}"
			sweeps += fmt.Sprintf("  - {name: s%d, vary: %s}\n", i, vary)
			hold := map[string]string{"connections": "1", "request": "1KiB"}
			for f := range hold {
				if strings.Contains(vary, f+":") {
					delete(hold, f)
				}
			}
			alone := fmt.Sprintf("study: x\nblocks: 1\nhold: {window: 500ms%s%s}\nvary: %s\n", entryOf(hold, "connections"), entryOf(hold, "request"), vary)
			s, err := ParseFile("alone.yaml", []byte(alone))
			if err != nil {
				t.Fatalf("%v\n%s", err, alone)
			}
			trials, _, err := own(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, tr := range trials {
				pairs[fmt.Sprint(tr.Levels)] = true
				base := map[string]string{}
				for f, l := range tr.Levels {
					base[f] = l
				}
				base["server"], base["client"] = "a", "a"
				pairs[fmt.Sprint(base)] = true
			}
		}
		s, err := ParseFile("x.yaml", []byte(head+"vary: {transport: [a, b, c]}\n"+sweeps))
		if err != nil {
			t.Fatalf("%v\n%s", err, sweeps)
		}
		trials, _, err := own(s)
		if err != nil {
			t.Fatal(err)
		}
		levelsOf, seen := map[string]string{}, map[string]bool{}
		for _, tr := range trials {
			levels, at := fmt.Sprint(tr.Levels), tr.Cell+"/"+tr.Arm
			if tr.Repeat {
				continue
			}
			if !pairs[levels] || seen[levels] {
				t.Fatalf("%s runs in no sweep alone, or twice: %s\n%s", at, levels, sweeps)
			}
			if other, known := levelsOf[at]; known && other != levels {
				t.Fatalf("%s is two things: %s and %s", at, levels, other)
			}
			levelsOf[at], seen[levels] = levels, true
		}
		if len(seen) != len(pairs) {
			t.Fatalf("%d pairs of %d are planned\n%s", len(seen), len(pairs), sweeps)
		}
	})
}

func entryOf(levels map[string]string, factor string) string {
	if l, ok := levels[factor]; ok {
		return ", " + factor + ": " + l
	}
	return ""
}

func TestArgumentsOverrideSweeps(t *testing.T) {
	open := func(string) ([]byte, error) { return []byte(swept), nil }
	for _, c := range []struct {
		args, vary string
		trials     int
	}{
		{"x.yaml", "[{arm [none some many]} {request [100B 1MiB]} {connections [1 100]} {inflight [1 10]}]", 2*14 + 10},
		// several levels: in the sweeps that vary it, the others keep the study's
		{"x.yaml connections=1,2,3", "[{arm [none some many]} {request [100B 1MiB]} {connections [1 2 3]} {inflight [1 10]}]", 2*(4+3+2*3+3*4) + 3 + 2 + 2*2 + 3*3},
		// one level: in all trials
		{"x.yaml connections=7", "[{arm [none some many]} {request [100B 1MiB]} {inflight [1 10]}]", 2*(4+3+4) + 3 + 2 + 3},
		{"x.yaml inflight=2 connections=7", "[{arm [none some many]} {request [100B 1MiB]}]", 2*(4+4) + 3 + 3},
		// in no sweep: crossed with all
		{"x.yaml threads=1,2", "[{arm [none some many]} {threads [1 2]} {request [100B 1MiB]} {connections [1 100]} {inflight [1 10]}]", 2 * (2*14 + 10)},
		// a sweep without arms goes
		{"x.yaml arm=some,none", "[{arm [some none]} {request [100B 1MiB]} {connections [1 100]} {inflight [1 10]}]", 2*9 + 6},
	} {
		s, err := ParseArgs(strings.Fields(c.args), open)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		trials, _, err := own(s)
		if got := fmt.Sprint(study.Summary(s).Vary); err != nil || got != c.vary || c.trials > 0 && len(trials) != c.trials {
			t.Errorf("%s: %d trials over %s, %v; expected %d over %s", c.args, len(trials), got, err, c.trials, c.vary)
		}
	}
	for args, want := range map[string]string{
		"x.yaml request=1KiB,2KiB": `argument 2 ("request=1KiB,2KiB"): request cannot be given several levels: sweep large holds it at 1MiB (x.yaml:15:21) and none varies it; type one level for all sweeps`,
		"x.yaml opt.b=1":           `argument 2 ("opt.b=1"): opt.b cannot be overridden: arm none sets it (x.yaml:6:12); choose arms by arm=NAME,…`,
		"x.yaml sweeps=calls":      `argument 2 ("sweeps=calls"): sweeps can be written in a file only; on the command line name a factor, or compare.baseline and its like`,
	} {
		if _, err := ParseArgs(strings.Fields(args), open); err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", args, err, want)
		}
	}
}

func TestWhatIsSaidOfResultsFollowsAChangedStudy(t *testing.T) {
	open := func(string) ([]byte, error) { return []byte(swept), nil }
	said := func(args ...string) string {
		s, err := ParseArgs(append([]string{"x.yaml"}, args...), open)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		var out []string
		for _, x := range s.Expect {
			out = append(out, x.Name())
		}
		for _, c := range s.Charts {
			out = append(out, "chart "+c.Title+fmt.Sprint(c.Arms))
		}
		return strings.Join(out, ", ")
	}
	for _, c := range []struct{ got, want string }{
		{said("blocks=3"), `exchanges_per_s of none = 2 × some, memory, chart calls[none some], chart all[]`},
		{said("connections=100"), `exchanges_per_s of none = 2 × some, memory, chart all[]`},
		{said("arm=some,many"), `memory, chart all[]`},
		{said("inflight=2"), `exchanges_per_s of none = 2 × some, chart calls[none some], chart all[]`},
		{said("request=1KiB"), `exchanges_per_s of none = 2 × some, memory, chart calls[none some], chart all[]`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

// A study that asks for a slowdown has in every block, for every arm and all cells that
// differ only in their load, a trial without load.
func TestTrialsWithoutLoadAreInEveryBlock(t *testing.T) {
	text := `
study: s
hold: {response: 1KiB, window: 1s}
vary:
  transport: [go-net, go-http1]
  rate: [1000, 2000]
  tls: [no, yes]
compare: {baseline: go-net, primary: [slowdown_p99]}
blocks: 6
`
	s, err := ParseFile("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := own(s)
	if err != nil {
		t.Fatal(err)
	}
	unloaded := map[string]int{}
	for _, one := range trials {
		if !one.Unloaded {
			continue
		}
		unloaded[one.Arm+" "+one.Levels["tls"]]++
		w, err := study.Decode(one.Levels)
		if err != nil {
			t.Fatal(err)
		}
		if l := w.Load; one.ID[:2] != "u0" || one.Repeat || l.Connections != 1 || l.InFlight != 1 || l.Rate != 0 || l.ThinkNs != 0 {
			t.Errorf("%s: %+v", one.ID, l)
		}
	}
	if len(unloaded) != 4 || unloaded["go-http1 yes"] != 6 || len(trials) != 6*(4*3+4) {
		t.Errorf("%d trials, without load %v", len(trials), unloaded)
	}
	s, err = ParseFile("s.yaml", []byte(strings.Replace(text, "slowdown_p99", "response_p99_us", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if trials, _, err = own(s); err != nil || len(trials) != 6*4*3 {
		t.Errorf("%d trials without a slowdown, %v", len(trials), err)
	}
}
