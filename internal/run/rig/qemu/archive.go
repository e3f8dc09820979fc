package qemu

import (
	"fmt"
	"io"
)

// entry is a file of a guest's first file system. A directory has no content and
// ends in a slash; a link has a target.
type entry struct {
	name   string
	mode   uint32 // permissions
	body   []byte
	target string
}

// writeArchive writes entries in the form that a kernel unpacks while it boots:
// cpio's "new ASCII" one. Directories come before what is in them.
// Source: Linux kernel, Documentation/driver-api/early-userspace/buffer-format.rst.
func writeArchive(w io.Writer, entries []entry) error {
	const directory, regular, link = 0o040000, 0o100000, 0o120000
	end := entry{name: "TRAILER!!!"}
	for i, e := range append(entries, end) {
		kind, body := uint32(regular), e.body
		switch {
		case e.target != "":
			kind, body = link, []byte(e.target)
		case e.name[len(e.name)-1] == '/':
			kind, e.name = directory, e.name[:len(e.name)-1]
		}
		// Number of the file, its mode, user, group, links, time, size, four numbers of
		// devices, the length of the name with its end, and no sum.
		head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
			i+1, kind|e.mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(e.name)+1, 0)
		if err := writePadded(w, []byte(head+e.name+"\x00")); err != nil {
			return err
		}
		if err := writePadded(w, body); err != nil {
			return err
		}
	}
	return nil
}

// writePadded writes b and zeros to the next multiple of four bytes.
func writePadded(w io.Writer, b []byte) error {
	_, err := w.Write(append(b[:len(b):len(b)], make([]byte, -len(b)&3)...))
	return err
}
