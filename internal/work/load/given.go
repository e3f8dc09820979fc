package load

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Given returns a text option that may name a file, which its declaration says
// (contract.Option.FileMax, here most): of "@FILE" what the file holds, "@@TEXT"
// with one @ less, any other as it is. A file is a regular one of at most so many
// bytes. The error is of the option's value.
func (o Options) Given(name string, most int64) (string, error) {
	text := o.Text(name)
	file, found := strings.CutPrefix(text, "@")
	if !found || strings.HasPrefix(file, "@") {
		return file, nil // of a text without @ the whole
	}
	return readGiven(file, most)
}

func readGiven(name string, most int64) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to would hold up the open
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if int64(len(text)) > most {
		return "", fmt.Errorf("%s has more than %d bytes, the most that are taken", name, most)
	}
	return string(text), nil
}
