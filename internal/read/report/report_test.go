package report

import (
	"os"
	"testing"
)

func TestPeek(t *testing.T) {
	p := New(sample(8))
	p.Text(os.Stdout, TextOptions{Width: 100})
	p.Text(os.Stdout, TextOptions{Width: 130, Color: true})
	p.Markdown(os.Stdout)
}
