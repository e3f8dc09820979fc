package profile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"netdyno/internal/contract"
	"netdyno/internal/printable"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Directory is where a run's directory keeps the files.
const Directory = "profiles"

// maxFiles bounds the files of a run; the cells of the study's beginning have theirs.
const maxFiles = 400

// File is a profile that other tools open: gzipped, in pprof's format.
type File struct {
	Name string // without a directory
	Data []byte
}

// Files writes the profiles of a run's probes as files: one for each cell, arm, end and
// kind, all probes and all workers of the end added up.
type Files struct {
	run    string
	places []filed
	beyond int // places whose files would be too many
	unfit  []Unread
}

// filed is an arm in a cell, whose files have a name of their own.
type filed struct {
	cells.Key
	stem   string
	levels []string
	probes []*trial.Judged
}

// FilesOf returns the files of a run, in the study's order.
func FilesOf(s *cells.Dataset) *Files {
	probes, unfit := fit(s)
	f := &Files{run: s.Run, unfit: unfit}
	taken := map[string]bool{}
	for at := range s.Places() {
		if len(probes[at]) > 0 {
			f.addFile(filed{at, stem(at, taken), levelsOf(probes[at][0].Plan), probes[at]})
		}
	}
	return f
}

// addFile takes in a place, as long as its files are not too many.
func (f *Files) addFile(p filed) {
	if (len(f.places)+1)*len(ends)*len(kinds) > maxFiles {
		f.beyond++
		return
	}
	f.places = append(f.places, p)
}

// CPU is the name of the file with the CPU time of an end; "" where there is none.
func (f *Files) CPU(cell, arm, end string) string {
	for _, p := range f.places {
		if p.Key == cells.KeyOf(cell, arm) {
			return p.name(contract.Role(end), cpuKind)
		}
	}
	return ""
}

// Each makes one file after the other. It says which profiles are left out because they
// cannot be read, do not go with the first of their place, or are too many. The error is
// write's.
func (f *Files) Each(write func(File) error) (notes []string, err error) {
	unread := slices.Clone(f.unfit)
	if f.beyond > 0 {
		notes = append(notes, fmt.Sprintf("the profiles of %d arms in later cells are left out: a run has at most %d files", f.beyond, maxFiles))
	}
	for _, p := range f.places {
		for _, end := range ends {
			for _, kind := range kinds {
				m := merger{end: end, of: kind.of}
				for _, v := range p.probes {
					unread = append(unread, m.addTrial(v)...)
				}
				if m.sum == nil {
					continue
				}
				file, err := p.file(f.run, m, kind.name)
				if err == nil {
					err = write(file)
				}
				if err != nil {
					return notes, err
				}
			}
		}
	}
	for _, u := range unread {
		notes = append(notes, fmt.Sprintf("the profile of probe %q is left out: %s", u.Probe, u.Why))
	}
	return notes, nil
}

func (p filed) file(run string, m merger, kind string) (File, error) {
	m.sum.Comments = append([]string{fmt.Sprintf("netdyno: run %q, arm %q, cell %q, %s, %s of %d probes", run, p.Arm, p.Cell, m.end, kind, m.probes)}, p.levels...)
	clean(m.sum)
	var b bytes.Buffer
	if err := m.sum.Write(&b); err != nil {
		return File{}, fmt.Errorf("encode the profile of arm %q: %w", p.Arm, err)
	}
	return File{p.name(m.end, kind), b.Bytes()}, nil
}

// clean makes every name printable: whoever opens the file prints them.
func clean(p *profile.Profile) {
	for i, c := range p.Comments {
		p.Comments[i] = printable.Text(c)
	}
	for _, f := range p.Function {
		f.Name, f.SystemName, f.Filename = printable.Text(f.Name), printable.Text(f.SystemName), printable.Text(f.Filename)
	}
	for _, m := range p.Mapping {
		m.File, m.BuildID = printable.Text(m.File), printable.Text(m.BuildID)
	}
	for _, s := range p.Sample {
		for key, labels := range s.Label {
			for i := range labels {
				labels[i] = printable.Text(labels[i])
			}
			if safe := printable.Text(key); safe != key {
				delete(s.Label, key)
				s.Label[safe] = labels
			}
		}
	}
}

// maxLevels bounds the levels that a file names.
const maxLevels = 40

func levelsOf(t record.Trial) []string {
	var all []string
	for factor, level := range t.Levels {
		all = append(all, factor+"="+level)
	}
	slices.Sort(all)
	return all[:min(len(all), maxLevels)]
}

// name is CELL-ARM-END.pprof, with the kind where it is not CPU time.
func (p filed) name(end contract.Role, kind string) string {
	parts := []string{p.stem, string(end)}
	if kind != cpuKind {
		parts = append(parts, kind)
	}
	return strings.Join(parts, "-") + ".pprof"
}

// stem is what the names of an arm's files in a cell begin with. Two that come out
// alike are numbered, also where only their case differs.
func stem(at cells.Key, taken map[string]bool) string {
	whole := strings.Trim(strings.ReplaceAll(inFileName(at.Cell)+"-"+inFileName(at.Arm), "--", "-"), "-.")
	if whole == "" {
		whole = "arm"
	}
	name := whole
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s-%d", whole, n)
	}
	taken[strings.ToLower(name)] = true
	return name
}

// longestPart bounds a part of a file's name, in bytes: names may have 255.
const longestPart = 80

// inFileName keeps of a name what means nothing to a shell, a file system or a URL.
func inFileName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') || strings.ContainsRune("_=.,-", r) {
			return r
		}
		return '_'
	}, s)
	return safe[:min(len(safe), longestPart)]
}
