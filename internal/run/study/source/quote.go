package source

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

var plainScalar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+%-]*$`)

// yamlWord matches the plain scalars that some YAML reader takes for no text;
// numbers are left plain, as levels are read as they are written.
var yamlWord = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)

// quote writes a text so that it reads back as itself: plain where YAML takes
// it as it stands, else in double quotes, whose escapes are JSON's.
func quote(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
