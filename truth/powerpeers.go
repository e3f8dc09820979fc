package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"netdyno/peers/turns"
)

// powerPeers asks netdyno and load generators of others, in random order, to tell the same
// servers apart. Its answers are the rows of a table in docs/benchmarks.md.
func powerPeers(ctx context.Context, p *pipeline) (answers []answer, err error) {
	pairs := unequalPairs()
	same := pairs[0]
	same.what, same.new = "none", same.old
	var loaders []turns.Loader
	for _, l := range turns.Loaders {
		if err := l.Missing(); err != nil {
			fmt.Fprintf(os.Stderr, "  %s is left out: %v\n", l, err)
			continue
		}
		loaders = append(loaders, l)
	}
	names := append(loaders, "netdyno")
	for _, pair := range []unequalPair{pairs[0], pairs[2], same} {
		by := make([][len(turns.Looks)]int, len(names))
		for range p.runs {
			err := pair.beside(ctx, func(urls [2]string) error {
				for _, i := range rand.Perm(len(names)) {
					var took time.Duration
					var err error
					if i < len(loaders) {
						took, err = loaders[i].Told(ctx, urls)
					} else {
						var t told
						t, err = pair.typed(ctx, p, urls)
						took = t.whole * time.Duration(oneIf(different(t.Findings)))
					}
					if err != nil {
						return err
					}
					fmt.Fprintf(os.Stderr, "  %s, %s: called different after %s\n", pair.what, names[i], took.Round(ms))
					for k, look := range turns.Looks {
						by[i][k] += oneIf(took > 0 && took <= look)
					}
				}
				return nil
			})
			if err != nil {
				return answers, fmt.Errorf("%s: %w", pair.what, err)
			}
		}
		for i, name := range names {
			answers = append(answers, answer{
				fmt.Sprintf("| %s | `%s` |", pair.what, name), fmt.Sprintf("%d | %d | %d | %d |", by[i][0], by[i][1], by[i][2], p.runs), "–", true,
			})
		}
	}
	return answers, nil
}
