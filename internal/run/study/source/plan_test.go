package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// anyArguments draws a study as it would be typed.
func anyArguments(t *rapid.T) []string {
	levels := func(name string, all ...string) string {
		n := rapid.IntRange(1, len(all)).Draw(t, name)
		return name + "=" + strings.Join(rapid.Permutation(all).Draw(t, name+" levels")[:n], ",")
	}
	args := []string{
		levels("transport", "go-net", "go-epoll", "asio", "null", "true"),
		levels("connections", "8", "50", "10k"),
		levels("request", "0", "100B", "4MiB"),
		levels("rate", "max", "20k", "0.125", "333.3"),
		levels("active", "50%", "100%", "33.3%"),
		levels("opt.server.command", `a b`, `say "hi"\, ok`, `back\slash`, `null`, `#x: [1]`, `- é`),
		fmt.Sprintf("blocks=%d", rapid.IntRange(1, 3).Draw(t, "blocks")),
		fmt.Sprintf("seed=%d", rapid.Uint64Range(0, 1<<53).Draw(t, "seed")),
	}
	return append(args[:1], rapid.Permutation(args[1:]).Draw(t, "order")[:rapid.IntRange(0, 7).Draw(t, "given")]...)
}

func TestEveryBlockIsBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := anyArguments(t)
		s, err := ParseArgs(args, noFiles)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		trials, _, err := own(s)
		if err != nil {
			t.Fatal(err)
		}
		perBlock := len(trials) / trials[len(trials)-1].Block
		ids := map[string]bool{}
		runs, seeds := map[string]int{}, map[string]uint64{}
		seen := map[string]bool{}
		for i, tr := range trials {
			if ids[tr.ID] || tr.Order != i || tr.Block != i/perBlock+1 || i > 0 && trials[i-1].ID >= tr.ID {
				t.Fatalf("trial %d is %s, order %d, block %d", i, tr.ID, tr.Order, tr.Block)
			}
			ids[tr.ID] = true
			at := fmt.Sprint(tr.Block, "/", tr.Cell)
			runs[at+"/"+tr.Arm]++
			if first, known := seeds[at]; known && first != tr.Seed || tr.Seed >= 1<<53 {
				t.Fatalf("%s has seed %d, another arm of its block and cell %d", tr.ID, tr.Seed, first)
			}
			seeds[at] = tr.Seed
			if again := runs[at+"/"+tr.Arm] > 1; tr.Repeat != again {
				t.Fatalf("%s: repeat is %v", tr.ID, tr.Repeat)
			}
			for f, l := range tr.Levels {
				seen[f+"="+l] = true
			}
			if tr.Levels["server"] != tr.Levels["client"] || tr.Levels["transport"] != "" {
				t.Fatalf("%s: the transport is not unfolded: %v", tr.ID, tr.Levels)
			}
		}
		for at, n := range runs {
			want := 1
			if strings.HasSuffix(at, "/"+s.Compare.Baseline) {
				want = 2
			}
			if n != want {
				t.Fatalf("%s runs %d times", at, n)
			}
		}
		for _, v := range s.Vary {
			for _, l := range v.Levels {
				if f := strings.Replace(v.Factor, "transport", "server", 1); !seen[f+"="+l.Text] {
					t.Fatalf("%s=%s is in no trial", f, l.Text)
				}
			}
		}
	})
}

func TestThePlanReadsBackFromItsFile(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, s *study.Study) {
		data, err := YAML(s)
		if err != nil {
			t.Fatalf("%v", err)
		}
		back, err := ParseFile("effective.yaml", data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if text(s) != text(back) {
			t.Fatalf("the study\n%s\nreads back as\n%s\nfrom\n%s", text(s), text(back), data)
		}
	}
	for _, name := range List() {
		s, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		s, err := ParseArgs(anyArguments(t), noFiles)
		if err != nil {
			t.Fatal(err)
		}
		check(t, s)
	})
}

func TestTheSeedDecidesTheOrder(t *testing.T) {
	order := func(args ...string) string {
		trials, _, err := own(mustArgs(t, append([]string{"transport=a,b,c", "connections=1,2,3"}, args...)...))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, tr := range trials {
			fmt.Fprintf(&b, "%s %s %s %d\n", tr.ID, tr.Cell, tr.Arm, tr.Seed)
		}
		return b.String()
	}
	if first, again := order("seed=7"), order("seed=7"); first != again {
		t.Error("the same seed gave two orders")
	}
	if order("seed=7") == order("seed=8") {
		t.Error("two seeds gave the same order")
	}
	lines := strings.Split(order("seed=7"), "\n")
	inBlock := func(b int) string {
		arms := make([]string, 12)
		for i := range arms {
			arms[i] = strings.Join(strings.Fields(lines[b*12+i])[1:3], " ")
		}
		return strings.Join(arms, ",")
	}
	if inBlock(0) == inBlock(1) {
		t.Errorf("two blocks have the same order: %s", inBlock(0))
	}
}

func TestEveryPlaceInABlockIsEquallyLikely(t *testing.T) {
	trials, _, err := own(mustArgs(t, "transport=a,b,c", "blocks=1000"))
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int{}
	for _, tr := range trials {
		if tr.Order%4 == 0 {
			first[tr.Arm]++
		}
	}
	// Binomial, n = 1000: a, twice in a block, 500 ± 5·15.8; b and c 250 ± 5·13.7.
	if a, b, c := first["a"], first["b"], first["c"]; a < 421 || a > 579 || b < 181 || b > 319 || c < 181 || c > 319 {
		t.Errorf("first in their block: %v", first)
	}
}

func TestASizeOutOfBoundsIsRefused(t *testing.T) {
	many := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",%d", i+1)
		}
		return name + "=" + b.String()[1:]
	}
	if _, err := ParseArgs([]string{"transport=a,b", many("connections", 499), "blocks=668"}, nil); err != nil {
		t.Errorf("%d trials: %v", 3*499*668, err)
	}
	want := "the study plans more than 1000000 trials: 2 transport × 500 connections × 668 blocks; vary fewer levels or run fewer blocks"
	if _, err := ParseArgs([]string{"transport=a,b", many("connections", 500), "blocks=668"}, nil); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%d trials: %v", 3*500*668, err)
	}
}

func TestConfoundedFactorsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		vary string
		want []string
	}{
		"one factor":                  {"arm: {a: {transport: x}, b: {transport: y}}", nil},
		"an option of one transport":  {"arm: {a: {transport: x}, b: {transport: y, opt.server.buffer: 4KiB}}", nil},
		"a level that is the default": {"arm: {a: {transport: x}, b: {transport: y, connections: 50}}", nil},
		"two factors": {
			"arm: {a: {transport: x}, b: {transport: y, inflight: 8}}",
			[]string{"arm b differs from the baseline a in 2 factors: inflight, transport"},
		},
		"an option of both": {
			"arm: {a: {transport: x, opt.buffer: 4KiB}, b: {transport: y, opt.buffer: 8KiB}}",
			[]string{"arm b differs from the baseline a in 2 factors: opt.buffer, transport"},
		},
		"always together": {
			"arm: {a: {transport: x}, b: {transport: y, request: 8KiB}, c: {transport: y, request: 8KiB, inflight: 4}}",
			[]string{
				"arm b differs from the baseline a in 2 factors: request, transport",
				"arm c differs from the baseline a in 3 factors: inflight, request, transport",
			},
		},
		"two URLs": {
			`arm: {a: {server: address, client: x, opt.server.address: "h:1", opt.server.wire: http/1.1, opt.client.path: /a, response: 1KiB, opt.client.verify: length},
    b: {server: address, client: x, opt.server.address: "g:2", opt.server.wire: http/1.1, opt.client.path: /b, response: 9KiB, opt.client.verify: status, fresh: yes, tls: yes, opt.client.host: g},
    c: {server: address, client: x, opt.server.address: "g:3", opt.server.wire: http/1.1, opt.client.path: /b, response: 9KiB, opt.client.verify: status, fresh: yes, tls: yes, opt.client.host: g}}`,
			nil,
		},
	} {
		s, err := ParseFile("x.yaml", []byte("study: x\nvary:\n  "+c.vary+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := own(s)
		var got []string
		for _, w := range warnings {
			got = append(got, w.Text)
			if w.Advice == "" || w.About == "" {
				t.Errorf("%s: %+v advises nothing", name, w)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q, %v\nwant %q", name, got, err, c.want)
		}
	}
}

func TestTooFewBlocksAreNamed(t *testing.T) {
	_, warnings, err := own(mustArgs(t, "transport=a,b", "blocks=5"))
	if err != nil || len(warnings) != 1 || warnings[0].Text != "with 5 blocks p cannot fall below 0.0625, so no comparison can be better or worse" {
		t.Errorf("got %v, %v", warnings, err)
	}
}

// A rate and a window, or an amount, say how many exchanges a trial has.
func TestTooFewExchangesAreNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		of   string // exchanges that some trials have; "" for enough
	}{
		{[]string{"rate=100", "window=4500ms"}, "900"},
		{[]string{"rate=100,1000", "window=4500ms"}, "900"},
		{[]string{"rate=100", "window=5s"}, ""},
		{[]string{"amount=9", "connections=50"}, "900"},
		{[]string{"amount=10", "connections=50"}, ""},
		{[]string{"window=1s"}, ""},
	} {
		_, warnings, err := own(mustArgs(t, append(c.args, "transport=a,b", "blocks=2", "require=service_p99_us of b <= 5ms")...))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(warnings, func(w record.Warning) bool { return w.About == "thin" })
		switch want := "service_p99_us needs 1000 exchanges in all blocks, and some arms have " + c.of; {
		case c.of == "" && i >= 0:
			t.Errorf("%v: warned that %s", c.args, warnings[i].Text)
		case c.of != "" && (i < 0 || warnings[i].Text != want):
			t.Errorf("%v: warnings %v, want %q", c.args, warnings, want)
		}
	}
}

func TestEstimateTime(t *testing.T) {
	for _, c := range []struct {
		args    []string
		total   time.Duration
		guessed int
	}{
		{[]string{"transport=a", "window=3s", "warmup=1s"}, 2 * 4100 * time.Millisecond, 0},
		{[]string{"transport=a", "amount=100", "warmup=0s", "rate=500"}, 2 * 10100 * time.Millisecond, 0},
		// 100 exchanges one after the other, a round trip of 20 ms and 50 µs each
		{[]string{"transport=a", "amount=100", "connections=2", "warmup=1s", "link.delay=10ms"}, 2 * (1100 + 2005) * time.Millisecond, 2},
		// and with a think time
		{[]string{"transport=a", "amount=100", "connections=2", "inflight=2", "warmup=1s", "think=39950us"}, 2 * (1100 + 2000) * time.Millisecond, 2},
		// 1 GiB on each of 2 connections at 1 GB/s, or over a link
		{[]string{"transport=a", "request=0B", "response=1GiB", "amount=1", "connections=2", "warmup=0s"}, 2 * (100*time.Millisecond + 2147483648*time.Nanosecond), 2},
		{[]string{"transport=a", "request=0B", "response=1GiB", "amount=1", "connections=2", "warmup=0s", "link.rate=80Mbit"}, 2 * (100*time.Millisecond + 214748364800*time.Nanosecond), 2},
	} {
		trials, _, err := own(mustArgs(t, append(c.args, "blocks=1")...))
		if err != nil {
			t.Fatal(err)
		}
		e := study.EstimateTime(trials, study.Pace{Overhead: 100 * time.Millisecond})
		if (e.Total-c.total).Abs() > time.Microsecond || e.Guessed != c.guessed {
			t.Errorf("%q: %v and %d guessed, expected %v and %d", c.args, e.Total, e.Guessed, c.total, c.guessed)
		}
	}
}

// 60 trials of 40 connections with 1000 blocks of 4 MiB are 10 TB, which no
// small machine moves in seconds.
func TestAnAmountIsEstimatedFromItsBytes(t *testing.T) {
	s, err := Named("blocks-fixed")
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := own(s)
	if err != nil {
		t.Fatal(err)
	}
	e := study.EstimateTime(trials, study.Pace{})
	if bytes := float64(len(trials)) * 40 * 1000 * (4 << 20); e.Guessed != len(trials) || e.Bytes < bytes || e.Bytes > 1.01*bytes {
		t.Errorf("%d of %d trials move %.3g bytes, expected %.3g", e.Guessed, len(trials), e.Bytes, bytes)
	}
	if e.Total < time.Hour {
		t.Errorf("10 TB take %v", e.Total)
	}
	if faster := study.EstimateTime(trials, study.Pace{BytesPerS: 10e9}); faster.Total > e.Total/9 {
		t.Errorf("at ten times the pace: %v after %v", faster.Total, e.Total)
	}
}

func TestATrialHasEveryLevel(t *testing.T) {
	trials, _, err := own(mustArgs(t, "transport=go-net", "opt.read=all"))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(slices.Sorted(maps.Keys(trials[0].Levels)))
	want := "[active amount arrival client clients codec connections fresh inflight listeners opt.read placement rate request response server servers stream think threads timeline tls warmup window]"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
