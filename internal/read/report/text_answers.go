package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
)

// title prints a study's name and question.
func (t *terminal) title(name, question string) {
	title := printable.Text(name)
	if question != "" {
		title += ": " + printable.Text(question)
	}
	for line := range strings.SplitSeq(text.WrapSoft(title, t.width), "\n") {
		t.line(t.bold(strings.TrimSpace(line)))
	}
}
