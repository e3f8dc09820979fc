package feed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/run/feed"
)

// BenchmarkConvert reads a million rows: ten million are to take no more than two seconds.
func BenchmarkConvert(b *testing.B) {
	for _, form := range []struct{ name, head, row string }{
		{"rows.csv", "id,name\n", "%d,customer-%[1]d\n"}, {"rows.txt", "", "customer-%d\n"}, {"rows.jsonl", "", `{"id": %d, "name": "customer-%[1]d"}` + "\n"},
	} {
		b.Run(form.name, func(b *testing.B) {
			directory := b.TempDir()
			name := filepath.Join(directory, form.name)
			text := []byte(form.head)
			for i := range 1_000_000 {
				text = fmt.Appendf(text, form.row, i)
			}
			if err := os.WriteFile(name, text, 0o600); err != nil {
				b.Fatal(err)
			}
			template := "{name}"
			if form.name == "rows.txt" {
				template = "{line}"
			}
			for i := 0; b.Loop(); i++ {
				f, err := feed.Open(b.Context(), name, false)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := f.Template(feed.URL, "the URL", "/"+template); err != nil {
					b.Fatal(err)
				}
				if err := f.Convert(filepath.Join(directory, fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
