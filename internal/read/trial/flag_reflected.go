package trial

import (
	"fmt"
	"slices"
	"strings"
)

// reflected: a worker encoded the user's message by reflection, which costs
// more than the code that protoc generates for an application.
func reflected(e *audit) (flag, why string) {
	var ends []string
	for _, w := range e.window.Record.Workers {
		if w.Reflected() && !slices.Contains(ends, string(w.Role)) {
			ends = append(ends, string(w.Role))
		}
	}
	if len(ends) == 0 {
		return "", ""
	}
	return Reflected, fmt.Sprintf("%s encoded its message by reflection", strings.Join(ends, " and "))
}
