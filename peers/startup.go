package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"netdyno/internal/record"
)

// startUp prints where the time of a short run goes beside its windows: 12 trials of 200 ms.
func (b *bed) startUp(ctx context.Context) error {
	fmt.Println("\nstart-up: 12 trials of 200 ms (asked: 80 % of the time inside windows)")
	for range 3 {
		dir, err := os.MkdirTemp(b.temp, "start-up-")
		if err != nil {
			return err
		}
		c := exec.CommandContext(ctx, b.netdyno(), "run", "transport=go-epoll,go-net,uring", "connections=50",
			"window=200ms", "warmup=0s", "blocks=3", "--out", filepath.Join(dir, "run"))
		began := time.Now()
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		whole := time.Since(began)
		contents, err := record.Read(filepath.Join(dir, "run", record.RecordsFile))
		if err != nil || len(contents.Records) == 0 {
			return errors.Join(err, errors.New("the run left no records"))
		}
		var windows, ready, opening, ending time.Duration
		for _, r := range contents.Records {
			at := r.Timeline
			ready += time.Duration(at.ReadyNs)
			opening += time.Duration(at.OpenNs - at.ReadyNs)
			windows += time.Duration(at.CloseNs - at.OpenNs)
			ending += time.Duration(at.EndNs - at.CloseNs)
		}
		first, last := contents.Records[0], contents.Records[len(contents.Records)-1]
		trials := last.StartedAt.Add(time.Duration(last.Timeline.EndNs)).Sub(first.StartedAt)
		n := time.Duration(len(contents.Records))
		fmt.Printf("  %.2f s, %.0f %% inside windows; of the trials' time %.0f %%; each trial %.0f ms until ready, %.0f until its window, %.0f after it, %.0f until the next; %.2f s before and after the trials\n",
			whole.Seconds(), 100*windows.Seconds()/whole.Seconds(), 100*windows.Seconds()/trials.Seconds(),
			ms(ready/n), ms(opening/n), ms(ending/n), ms((trials-ready-opening-windows-ending)/n), (whole - trials).Seconds())
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
