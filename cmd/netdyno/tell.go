package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

const tellUsage = "say, as soon as a run of several arms is judged first, how long it takes here to tell a difference of a share, such as 5%"

// judgeOf is look; the first of a run says besides how long it takes to tell a difference. The
// error names the flag.
func (f runFlags) judgeOf() (func(record.Header, []record.Trial, []record.Record, int) (bool, string, error), error) {
	if f.tell == "" {
		return look, nil
	}
	share, err := quantity.ParseShare(f.tell)
	if err != nil || share <= compare.DefaultMargin {
		return nil, fmt.Errorf("--tell %s: expected a share above the margin of 2 %%, such as 5%%", quantity.Clip(f.tell, 40))
	}
	return func(header record.Header, trials []record.Trial, records []record.Record, number int) (bool, string, error) {
		settled, words, err := look(header, trials, records, number)
		if err != nil || number > 1 {
			return settled, words, err
		}
		so := slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool {
			return !slices.ContainsFunc(records, func(r record.Record) bool { return r.Trial.ID == t.ID })
		})
		all, err := compare.TellsIn(header, so, records, share)
		return settled, tellWords(share, all) + words, err
	}, nil
}

// tellWords says how long it takes to tell a share on each metric.
func tellWords(share float64, all []compare.Telling) string {
	var times []string
	for _, t := range all {
		takes := "too long"
		if !math.IsInf(t.Seconds, 1) {
			takes = quantity.Roughly(time.Duration(t.Seconds * float64(time.Second)))
		}
		times = append(times, takes+" for "+part.Label(t.Metric))
	}
	if len(times) == 0 {
		return ""
	}
	return fmt.Sprintf("to tell %s here: about %s. ", quantity.ChosenShare(share), strings.Join(times, ", "))
}
