package export

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"netdyno/internal/read/profile"
)

// File is one of the files of a format that has several.
type File struct {
	Name string // without a directory
	Data []byte
}

// pprofFiles are the profiles of the probes, merged by arm, cell and end. What is left
// out is named in notes.
func pprofFiles(r Run) (files []File, notes []string, err error) {
	s, err := r.judged()
	if err != nil {
		return nil, nil, err
	}
	merged, unread := profile.Merge(s)
	for _, u := range unread {
		notes = append(notes, fmt.Sprintf("the profile of probe %q is left out: %s", u.Probe, u.Why))
	}
	if len(merged) == 0 {
		return nil, notes, errors.New("the run has no profiles; expected probes, which a run has with probes=3")
	}
	taken := map[string]bool{}
	for _, m := range merged {
		m.Comments = []string{valid(fmt.Sprintf("netdyno: run %q, arm %q, cell %q, %s, %s of %d probes", r.name(), m.Arm, m.Cell, m.End, m.Kind, m.Probes))}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			return nil, notes, fmt.Errorf("encode the profile of arm %q: %w", m.Arm, err)
		}
		files = append(files, File{Name: profileName(m, taken), Data: b.Bytes()})
	}
	return files, notes, nil
}

// profileName is a file's name: ARM-CELL-END.pprof.gz, with the kind where it is not
// CPU. Two that come out alike are numbered.
func profileName(m profile.Merged, taken map[string]bool) string {
	parts := []string{inFileName(m.Arm), inFileName(m.Cell), string(m.End)}
	if m.Kind != "cpu" {
		parts = append(parts, m.Kind)
	}
	stem := strings.Trim(strings.ReplaceAll(strings.Join(parts, "-"), "--", "-"), "-.")
	name := stem
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	taken[name] = true
	return name + ".pprof.gz"
}

// longestPart bounds a part of a file's name, in bytes: names may have 255.
const longestPart = 80

// inFileName keeps of a name what means nothing to a shell or a file system.
func inFileName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if wordly(r) || strings.ContainsRune("=.,-", r) {
			return r
		}
		return '_'
	}, s)
	return safe[:min(len(safe), longestPart)]
}
