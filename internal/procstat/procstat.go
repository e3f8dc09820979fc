// Package procstat takes /proc/PID/stat apart. Source: proc_pid_stat(5).
package procstat

import (
	"bytes"
	"os"
	"strconv"
)

// The fields, by their numbers in proc_pid_stat(5).
const (
	Parent       = 4
	Flags        = 9
	User         = 14 // CPU time in ticks, as the next three
	System       = 15
	WaitedUser   = 16 // of children that were waited for
	WaitedSystem = 17
	Began        = 22 // in ticks after the boot
)

// first is the number of the first field behind the name: the state.
const first = 3

// Stat are the fields of a process or a thread behind its name, which may itself hold
// blanks and brackets.
type Stat [][]byte

// Parse takes a file's text apart; a line without a name's end has no fields. The fields
// lie in the text.
func Parse(text []byte) Stat {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return nil
	}
	return bytes.Fields(text[end+1:])
}

// Of reads the fields of a process; none of one that has ended.
func Of(pid int) Stat {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return Parse(text)
}

// State is the letter of the state: 'T' of what a signal stopped; 0 where there is none.
func (s Stat) State() byte {
	if len(s) == 0 {
		return 0
	}
	return s[0][0]
}

// Has tells whether a field is there.
func (s Stat) Has(field int) bool { return len(s) > field-first }

// Number is a field's value; 0 of one that is not there.
func (s Stat) Number(field int) int64 {
	if !s.Has(field) {
		return 0
	}
	n, _ := strconv.ParseInt(string(s[field-first]), 10, 64) // the kernel writes numbers
	return n
}
