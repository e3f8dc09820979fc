package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/peers/result"
)

// What the page's own text leaves to this program: its table, and below the head of a
// section that tells of other measurements, where they come from.
const (
	tableFrom = "<!-- ratios: written by make bench-table -->\n"
	tableTo   = "<!-- /ratios -->\n"
)

var section = regexp.MustCompile(`(?m)^<!-- measured (\S+) (\S+); code: ([^>]+) -->\n(?:\*[^\n]*\*\n)?`)

// write enters the rows into the page, and beside each figure whether its code has changed
// since.
func write(ctx context.Context, path string, rows []result.Row) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := func(r result.Row) (string, error) { return result.Changed(ctx, root, r) }
	written, err := enter(string(text), rows, changed)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(written), 0o644)
}

// enter returns a page with its table and its sections' origins written anew.
func enter(page string, rows []result.Row, changed func(result.Row) (string, error)) (string, error) {
	before, rest, found := strings.Cut(page, tableFrom)
	_, after, ended := strings.Cut(rest, tableTo)
	if !found || !ended {
		return "", fmt.Errorf("it has no table between %q and %q", tableFrom, tableTo)
	}
	table, err := tableOf(rows, changed)
	if err != nil {
		return "", err
	}
	var failed error
	page = section.ReplaceAllStringFunc(before+tableFrom+table+tableTo+after, func(mark string) string {
		m := section.FindStringSubmatch(mark)
		r := result.Row{Code: strings.Fields(m[3]), Origin: result.Origin{Date: m[1], Commit: m[2]}}
		since, err := changed(r)
		failed = errors.Join(failed, err)
		line := fmt.Sprintf("*Measured on %s at %s", r.Date, r.Commit)
		if since != "" {
			line += fmt.Sprintf("; **older than its code**, which %s changed", since)
		}
		head, _, _ := strings.Cut(mark, "\n")
		return head + "\n" + line + ".*\n"
	})
	return page, failed
}

// tableOf lays the rows out, a table for each study.
func tableOf(rows []result.Row, changed func(result.Row) (string, error)) (string, error) {
	var b strings.Builder
	for len(rows) > 0 {
		same := slices.IndexFunc(rows, func(r result.Row) bool { return r.Study != rows[0].Study })
		if same < 0 {
			same = len(rows)
		}
		text, err := studyTable(rows[:same], changed)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		rows = rows[same:]
	}
	return b.String() + "\n", nil
}

// studyTable is the table of one study; below it stands where its figures come from.
func studyTable(rows []result.Row, changed func(result.Row) (string, error)) (string, error) {
	var b strings.Builder
	var origins []result.Origin
	older := map[int][]string{} // by origin
	var last []string           // cells that the rows below need not repeat
	fmt.Fprintf(&b, "\n### %s\n\n| work | what | netdyno | its | peer | its | netdyno ÷ peer (95 %%) | blocks | |\n|---|---|---|--:|---|--:|---|--:|---|\n", rows[0].Study)
	for _, r := range shown(rows) {
		since, err := changed(r)
		if err != nil {
			return "", err
		}
		at := slices.Index(origins, r.Origin)
		if at < 0 {
			at = len(origins)
			origins = append(origins, r.Origin)
		}
		mark := string(rune('a' + at))
		if since != "" {
			mark += "†"
			if !slices.Contains(older[at], since) {
				older[at] = append(older[at], since)
			}
		}
		what := r.What
		if r.Asked != "" {
			what += ", asked: " + r.Asked
		}
		first := []string{r.Work, what, r.Ours, r.OursValue}
		if slices.Equal(first, last) { // told by the row above
			fmt.Fprint(&b, "| | | | ")
		} else {
			last = first
			fmt.Fprintf(&b, "| %s ", strings.Join(first, " | "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s%s | %s | %s |\n", r.Peer, r.PeerValue, ratio(r), verdict(r), count(r.Blocks), mark)
	}
	for i, o := range origins {
		fmt.Fprintf(&b, "\n%c: %s, %s, %s.", 'a'+i, o.Date, o.Commit, o.Machine)
		if len(older[i]) > 0 {
			fmt.Fprintf(&b, " † Older than its code, which was changed last by %s.", strings.Join(older[i], ", "))
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// shown are the rows of one study that the page has: where something is asked of some of a
// work's, those and what is shown of single arms.
func shown(rows []result.Row) []result.Row {
	asked := map[string]bool{}
	for _, r := range rows {
		asked[r.Work] = asked[r.Work] || r.Asked != ""
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r result.Row) bool { return r.Asked == "" && r.Of == "" && asked[r.Work] })
}

// enough is how many blocks a verdict takes: of 8 some did not come again.
const enough = 16

// verdict tells by a ratio's interval whether what is asked of it is met: "open" where the
// interval holds the bound, and nothing where there is no interval or no single bound.
func verdict(r result.Row) string {
	side, text, _ := strings.Cut(r.Asked, " ")
	bound, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || r.Low <= 0 || side != "≥" && side != "≤":
		return ""
	case r.Blocks < enough:
		return fmt.Sprintf(", under %d blocks", enough)
	case r.Low <= bound && bound <= r.High:
		return ", open"
	case (side == "≥") == (r.Low > bound):
		return ", met"
	}
	return ", **missed**"
}

func ratio(r result.Row) string {
	switch {
	case r.Note != "":
		return r.Note
	case r.Low > 0:
		return fmt.Sprintf("%s× (%s–%s)", quantity.FormatFigure(r.Ratio), quantity.FormatFigure(r.Low), quantity.FormatFigure(r.High))
	}
	return quantity.FormatFigure(r.Ratio) + "× (one block)"
}

func count(blocks int) string {
	if blocks == 0 {
		return ""
	}
	return fmt.Sprint(blocks)
}
