package export

import (
	"errors"

	"netdyno/internal/read/profile"
)

// File is one of the files of a format that has several.
type File = profile.File

// pprofFiles are the profiles of the probes, as a report writes them beside itself.
func pprofFiles(r Run) (files []File, notes []string, err error) {
	s, err := r.judged()
	if err != nil {
		return nil, nil, err
	}
	notes, err = profile.FilesOf(s).Each(func(f File) error {
		files = append(files, f)
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("the run has no profiles; expected probes, which a run has with probes=3")
	}
	return files, notes, err
}
