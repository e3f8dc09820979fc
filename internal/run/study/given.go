package study

import "strings"

// What stands for a text that requests carry and that is no level: a file of the run's
// directory, by its hash, or one that is kept nowhere after the run.
const (
	GivenPrefix  = "@given/"
	SecretPrefix = "@secret/"
)

// IsGiven tells whether a level stands for a text.
func IsGiven(level string) bool {
	return strings.HasPrefix(level, GivenPrefix) || strings.HasPrefix(level, SecretPrefix)
}

// Given puts other levels in the place of those of options that begin with @ and name a
// file; @@ begins a level that begins with @. It is called before the study is used.
// The error names the position.
func (s *Study) Given(level func(text string) (string, error)) error {
	for factor, l := range s.Levels() {
		if !strings.HasPrefix(factor, OptionPrefix) || !strings.HasPrefix(l.Text, "@") || strings.HasPrefix(l.Text, "@@") {
			continue
		}
		text, err := level(l.Text)
		if err != nil {
			return Errorf(l.At, "%s: %s", factor, err)
		}
		l.Text = text
	}
	return nil
}
