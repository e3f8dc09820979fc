package main

import (
	"strings"
	"testing"

	"netdyno/peers/result"
)

// A figure whose code has changed since is marked, in the table and in sections; the rest
// of the page stays as it is, however often it is written.
func TestFiguresOlderThanTheirCodeAreMarked(t *testing.T) {
	rows := []result.Row{
		{Study: "echo", Work: "50 connections", What: "rate", Asked: "≥ 1.0", Ours: "io_uring", OursValue: "370 k/s", Peer: "muduo", PeerValue: "300 k/s",
			Ratio: 1.23, Low: 1.2, High: 1.26, Blocks: 8, Code: []string{"native/uring"}, Origin: result.Origin{Date: "2026-11-27", Commit: "aaaaaaaa", Machine: "2 CPUs"}},
		{Study: "echo", Work: "50 connections", What: "client CPU", Ours: "io_uring", Peer: "muduo", Ratio: 0.6, Blocks: 1, Code: []string{"native/asio"}},
		{Study: "echo", Work: "1 connection", What: "rate", Ours: "io_uring", Peer: "neper", Ratio: 1.3, Blocks: 1,
			Code: []string{"native/asio"}, Origin: result.Origin{Date: "2026-11-26", Commit: "bbbbbbbb+", Machine: "2 CPUs"}},
	}
	changed := func(r result.Row) (string, error) {
		if r.Code[0] == "native/uring" {
			return "cccccccc of 2026-11-28", nil
		}
		return "", nil
	}
	page := "# Page\n\nwords\n\n" + tableFrom + "old\n" + tableTo + "\n## MPI\n\n<!-- measured 2026-11-01 dddddddd; code: native/uring native/kit -->\n\nfigures\n"
	once, err := enter(page, rows, changed)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Page\n\nwords\n", "figures\n",
		"| 50 connections | rate, asked: ≥ 1.0 | io_uring | 370 k/s | muduo | 300 k/s | 1.23× (1.20–1.26), met | 8 | a† |",
		"| neper |  | 1.30× (one block) | 1 | b |",
		"\na: 2026-11-27, aaaaaaaa, 2 CPUs. † Older than its code, which was changed last by cccccccc of 2026-11-28.\n", "\nb: 2026-11-26, bbbbbbbb+, 2 CPUs.\n",
		"code: native/uring native/kit -->\n*Measured on 2026-11-01 at dddddddd; **older than its code**, which cccccccc of 2026-11-28 changed.*\n",
	} {
		if !strings.Contains(once, want) {
			t.Errorf("the page lacks %q:\n%s", want, once)
		}
	}
	if strings.Contains(once, "client CPU") {
		t.Errorf("a figure of which nothing is asked stands beside others of the same work:\n%s", once)
	}
	if again, err := enter(once, rows, changed); err != nil || again != once {
		t.Errorf("written once more, the page changes (%v)", err)
	}
	if _, err := enter("# Page\n", rows, changed); err == nil {
		t.Error("a page without a place for the table is taken")
	}
}

// What is asked is met or missed only where the whole interval lies on one side of it.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		asked     string
		low, high float64
		want      string
	}{
		{"≥ 1.0", 1.01, 1.2, ", met"},
		{"≥ 1.0", 0.9, 1.2, ", open"},
		{"≥ 1.0", 0.9, 0.99, ", **missed**"},
		{"≤ 1.3", 0.9, 1.2, ", met"},
		{"≤ 1.3", 1.31, 1.4, ", **missed**"},
		{"0.97 to 1.03", 0.98, 1, ""},
		{"≥ 1.0", 0, 0, ""},
		{"", 1, 2, ""},
	} {
		if got := verdict(result.Row{Asked: c.asked, Low: c.low, High: c.high}); got != c.want {
			t.Errorf("%s with %v to %v: %q, expected %q", c.asked, c.low, c.high, got, c.want)
		}
	}
}
