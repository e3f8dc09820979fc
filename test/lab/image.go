package lab

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Busybox is the image of the machine's static busybox that a node has. It goes under the
// name of what pods of rig k8s are made from unless a user names another, since no registry
// is within reach; that image's busybox is newer than Debian's.
const Busybox = "docker.io/library/busybox:1.37"

// busybox writes an archive of two images: Busybox, and what holds a pod's namespaces.
func busybox(path string) error {
	program, err := os.ReadFile("/bin/busybox")
	if err != nil {
		return err
	}
	applets, err := exec.Command("/bin/busybox", "--list").Output()
	if err != nil {
		return err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	put := func(h tar.Header, text []byte) {
		h.Size = int64(len(text))
		if err == nil {
			err = w.WriteHeader(&h)
		}
		if err == nil {
			_, err = w.Write(text)
		}
	}
	for _, dir := range []string{"bin/", "etc/", "root/", "proc/", "sys/", "dev/"} {
		put(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}, nil)
	}
	put(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	put(tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755}, program)
	for applet := range strings.FieldsSeq(string(applets)) {
		if applet != "busybox" {
			put(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + applet, Linkname: "busybox"}, nil)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	return archive(path, layer.Bytes(), map[string][]string{
		Busybox:               {"/bin/sh"},
		"localhost/pause:lab": {"/bin/busybox", "sleep", "2147483647"},
	})
}

type object = map[string]any

// archive writes images of one layer, by their names and the command that each runs, as
// an OCI layout.
func archive(path string, layer []byte, commands map[string][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := tar.NewWriter(file)
	put := func(name string, text []byte) {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))})
		}
		if err == nil {
			_, err = w.Write(text)
		}
	}
	sum := func(text []byte) string {
		s := sha256.Sum256(text)
		return hex.EncodeToString(s[:])
	}
	blob := func(kind string, content any) object {
		text, raw := content.([]byte)
		if !raw {
			text, _ = json.Marshal(content) // of strings and numbers alone
		}
		put("blobs/sha256/"+sum(text), text)
		return object{"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + sum(text), "size": len(text)}
	}
	root := blob("layer.v1.tar", layer)
	var manifests []object
	for name, command := range commands {
		config := blob("config.v1+json", object{
			"architecture": runtime.GOARCH, "os": "linux",
			"config": object{"Cmd": command, "Env": []string{"PATH=/bin"}},
			"rootfs": object{"type": "layers", "diff_ids": []string{"sha256:" + sum(layer)}},
		})
		m := blob("manifest.v1+json", object{"schemaVersion": 2, "config": config, "layers": []object{root}})
		m["annotations"] = object{"io.containerd.image.name": name}
		manifests = append(manifests, m)
	}
	index, _ := json.Marshal(object{"schemaVersion": 2, "manifests": manifests}) // the same
	put("index.json", index)
	put("oci-layout", []byte(`{"imageLayoutVersion": "1.0.0"}`))
	if err == nil {
		err = w.Close()
	}
	return err
}
