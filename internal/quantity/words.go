package quantity

import (
	"fmt"
	"strings"
)

// Plural says how many there are of something whose plural ends in s: "1 block",
// "3 blocks".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// And lists texts as a sentence does: "a", "a and b", "a, b and c".
func And(texts []string) string { return listed(texts, " and ") }

// Or lists texts as alternatives: "a, b or c".
func Or(texts []string) string { return listed(texts, " or ") }

func listed(texts []string, before string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + before + texts[last]
}

// Names lists the first six names, and counts the rest where they are more than one,
// which is as short as its name: "a, b, c, d, e, f and 3 more".
func Names(names []string) string {
	const most = 6
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
