package source

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

const labelForm = "a label"

// aLabel is what something is called in plain words.
var aLabel = single(labelForm, readLabel, asIs)

func readLabel(text string) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	switch n := utf8.RuneCountInString(text); {
	case n == 0 || n > study.MaxLabel:
		return "", fmt.Errorf("the label has %d characters; expected 1 to %d", n, study.MaxLabel)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", fmt.Errorf("the label %q has characters that cannot be shown; expected plain text", quantity.Clip(text, 80))
	}
	return text, nil
}

// labelsOf are labels of levels. Those of arms stand with the arms.
var labelsOf = kindOfValue("a mapping from factors to levels and what they are called", func(e entry) (map[string]map[string]string, error) {
	labels := map[string]map[string]string{}
	return labels, e.each(length{1, maxLevels}, "a mapping from factors to levels and their labels", func(of entry) error {
		f, err := factorAt(of)
		if err != nil {
			return err
		}
		if f.Kind == study.Bundle {
			return of.at.errorf("labels: an arm has its label among its levels, as in {label: %q, server: go-epoll}", "raw epoll")
		}
		labels[f.Name] = map[string]string{}
		return of.each(length{1, maxLevels}, "a mapping from levels to labels", func(level entry) error {
			l, err := f.Level(level.key)
			if err != nil {
				return level.at.errorf("labels: %s", err)
			}
			labels[f.Name][l.Text], err = one(level, labelForm, readLabel)
			return err
		})
	})
}, func(labels map[string]map[string]string) *node {
	return mapNode(labels, func(levels map[string]string) *node {
		n := mapNode(levels, textNode)
		for i := range n.entries {
			n.entries[i].key = quote(n.entries[i].key)
		}
		return n
	})
})
