package wire

import (
	"encoding/base64"
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// mostBodies bounds what the classes of a load send, in base64, in bytes.
const mostBodies = 64 << 20

// BodiesOption declares what the exchanges of each class send in place of random content.
func BodiesOption() contract.Option {
	return contract.Option{
		Name: "bodies", Type: contract.TypeText, Default: "", FileMax: mostBodies, Roles: []contract.Role{contract.Client},
		Doc: "with a workload: what requests of each class carry in place of random content, in base64, one a line in the order of the classes; an empty line keeps it random",
	}
}

// BodiesOf reads the option: of each class its body, nil where content is random; nil
// without the option. The error is of kind setup.
func BodiesOf(setup contract.Setup) ([][]byte, error) {
	text, err := load.Options(setup.Options).Given("bodies", mostBodies)
	if err == nil && text == "" {
		return nil, nil
	}
	fail := func(format string, args ...any) ([][]byte, error) {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("option bodies: "+format, args...))
	}
	if err != nil {
		return fail("%w", err)
	}
	lines, classes := strings.Split(strings.TrimSuffix(text, "\n"), "\n"), setup.Load.Classes
	if len(lines) != len(classes) {
		return fail("it has %d lines and load.classes %d; expected one for each", len(lines), len(classes))
	}
	all := make([][]byte, len(lines))
	for i, line := range lines {
		body, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			return fail("line %d is no base64: %w", i+1, err)
		}
		if line == "" {
			continue
		}
		if c := classes[i]; int64(len(body)) != c.UpBytes || len(c.UpSizes) > 0 {
			return fail("line %d has %d bytes and class %s %d up; expected the same", i+1, len(body), c.Name, c.UpBytes)
		}
		all[i] = body
	}
	return all, nil
}
