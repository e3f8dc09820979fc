// Package pattern compiles regular expressions when they are first used: every process would
// pay at its start for all that it links, most for those with counts.
package pattern

import (
	"regexp"
	"sync"
)

// Once returns a function that returns the expression compiled, which is done once. It panics
// as regexp.MustCompile does.
func Once(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
