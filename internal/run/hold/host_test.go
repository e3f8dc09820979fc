package hold

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/setting"
)

const rmem, usual, capped = "net.ipv4.tcp_rmem", "4096 131072 33554432", "4096 131072 1048576"

// here is a host whose settings are files of the test's own.
func here(t *testing.T) Here {
	t.Helper()
	h := Here{Address: "127.0.0.1", Sysctl: t.TempDir(), Left: filepath.Join(t.TempDir(), "left"), Space: "net:[1]"}
	if err := os.MkdirAll(filepath.Join(h.Sysctl, "net/ipv4"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(h.Sysctl, rmem), []byte("4096\t131072\t33554432\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return h
}

// value is what stands in the file of the test's one sysctl.
func (h Here) value(t *testing.T) string {
	t.Helper()
	v, err := h.get(rmem)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// holding starts a holder and waits until it has set everything.
func (h Here) holding(t *testing.T, ctx context.Context, asked ...string) (before map[string]string, end func() error) {
	t.Helper()
	in, closes := io.Pipe()
	out, says := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := h.Hold(ctx, asked, in, says)
		says.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &before)
	}
	if err != nil {
		t.Fatalf("%v: %v", err, <-ended)
	}
	return before, func() error { closes.Close(); return <-ended }
}

func TestASettingLastsAsLongAsItsHolder(t *testing.T) {
	h := here(t)
	before, end := h.holding(t, t.Context(), rmem+"="+capped)
	if before[rmem] != usual || h.value(t) != capped {
		t.Errorf("before %q, held %q", before[rmem], h.value(t))
	}
	if err := h.Hold(t.Context(), []string{rmem + "=" + usual}, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), rmem+" is held by another run") {
		t.Errorf("a second holder: %v", err)
	}
	if err := end(); err != nil || h.value(t) != usual {
		t.Errorf("at the end of its stdin: %v, %q", err, h.value(t))
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, end = h.holding(t, ctx, rmem+"="+capped)
	cancel()
	if err := end(); err != nil || h.value(t) != usual {
		t.Errorf("after a signal: %v, %q", err, h.value(t))
	}
	if files, _ := filepath.Glob(h.Left + "/*"); len(files) > 0 {
		t.Errorf("left are %v", files)
	}
}

// What a killed holder has left is put back, by who asks and by the next holder; what is
// of another network namespace that no process is in is forgotten.
func TestWhatAKilledHolderLeftIsPutBack(t *testing.T) {
	for name, again := range map[string]func(Here) error{
		"by hand": func(h Here) error { _, err := h.PutBack(); return err },
		"by the next holder": func(h Here) error {
			return h.Hold(t.Context(), []string{rmem + "=1 2 3"}, strings.NewReader(""), io.Discard)
		},
	} {
		h := here(t)
		kept, err := h.keep(map[string]string{rmem: usual})
		if err == nil {
			err = errors.Join(h.set(rmem, capped), kept.file.Close()) // as SIGKILL closes it
		}
		if err == nil {
			err = again(h)
		}
		if files, _ := filepath.Glob(h.Left + "/*"); err != nil || h.value(t) != usual || len(files) > 0 {
			t.Errorf("%s: %v, %q, left %v", name, err, h.value(t), files)
		}
	}
	h := here(t)
	other := h
	other.Space = "net:[0]"
	kept, err := other.keep(map[string]string{rmem: "1 2 3"})
	if err == nil {
		err = kept.file.Close()
	}
	all, putErr := h.PutBack()
	if files, _ := filepath.Glob(h.Left + "/*"); errors.Join(err, putErr) != nil || len(all)+len(files) > 0 || h.value(t) != usual {
		t.Errorf("of a namespace that is gone: %v %v, put back %v, left %v", err, putErr, all, files)
	}
}

func TestWhatMayNotBeSetIsRefused(t *testing.T) {
	for asked, want := range map[string]string{
		"kernel.panic=1": "unknown setting", "net.ipv4.tcp_rmen=1": rmem, setting.Congestions + "=reno": "unknown setting",
		"net/../../etc/passwd=1": "unknown setting", "net.core.rmem_max=1": "no such file", // which this host does not have
	} {
		h := here(t)
		if err := h.Hold(t.Context(), []string{rmem + "=" + capped, asked}, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), want) || h.value(t) != usual {
			t.Errorf("%s: %v, %q", asked, err, h.value(t))
		}
	}
}

// What lies in the directory of what is to be put back is no way to set anything else.
func FuzzLeft(f *testing.F) {
	f.Add([]byte(`{"space":"net:[1]","before":{"net.ipv4.tcp_rmem":"1 2 3"}}`))
	f.Add([]byte(`{"space":"net:[1]","before":{"kernel.core_pattern":"|/bin/sh"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "held-1.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		c, err := readLeft(file)
		for key := range c.Before {
			if err == nil && key != setting.MTU && !slices.Contains(setting.Sysctls(), key) {
				t.Errorf("%q would be put back", key)
			}
		}
	})
}
