package child

import (
	"fmt"
	"strings"
)

// Split turns the text of an option into words without a shell: they are
// separated by spaces, '…' and "…" keep spaces, nothing is expanded but the
// placeholders {host} and {port}.
func Split(option, line, host, port string) ([]string, error) {
	var argv []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				argv = append(argv, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("option %s: the quote %c is not closed in %q", option, quote, line)
	}
	if inWord {
		argv = append(argv, word.String())
	}
	fill := strings.NewReplacer("{host}", host, "{port}", port)
	for i := range argv {
		argv[i] = fill.Replace(argv[i])
	}
	return argv, nil
}
