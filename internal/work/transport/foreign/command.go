package foreign

import (
	"fmt"
	"strings"
)

// split turns a command line into an argv without a shell: words are
// separated by spaces, '…' and "…" keep spaces, nothing is expanded but the
// placeholders {host} and {port}.
func split(line, host, port string) ([]string, error) {
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
		return nil, fmt.Errorf("option command: the quote %c is not closed in %q", quote, line)
	}
	if inWord {
		argv = append(argv, word.String())
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("option command is empty, expected the command line of a server, such as %q", "socat TCP-LISTEN:{port},fork EXEC:cat")
	}
	fill := strings.NewReplacer("{host}", host, "{port}", port)
	for i := range argv {
		argv[i] = fill.Replace(argv[i])
	}
	return argv, nil
}
