package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// otherServers are servers as users write them, which are the limit themselves: whoever
// asks must come to the same rate. `make servers-there` installs them.
func (b *bed) otherServers() []work {
	tools, apps := filepath.Join(".tools", "servers"), filepath.Join("test", "servers", "apps")
	absolute := func(path string) string {
		full, err := filepath.Abs(path)
		if err != nil {
			return path // the working directory is gone, and with it all of this
		}
		return full
	}
	tools, apps = absolute(tools), absolute(apps)
	var all []work
	for _, s := range []struct {
		name, program string
		argv          func(port string) []string
	}{
		{"Node with express", filepath.Join(tools, "node_modules", "express", "package.json"), func(port string) []string {
			return []string{"env", "NODE_ENV=production", "NODE_PATH=" + filepath.Join(tools, "node_modules"), "node", filepath.Join(apps, "express.js"), port}
		}},
		{"uvicorn with FastAPI", filepath.Join(tools, "venv", "bin", "uvicorn"), func(port string) []string {
			return []string{filepath.Join(tools, "venv", "bin", "uvicorn"), "--app-dir", apps, "fast:app", "--no-access-log", "--port", port}
		}},
		{"Go net/http", filepath.Join(tools, "goserver"), func(port string) []string { return []string{filepath.Join(tools, "goserver"), "http", port} }},
		{"Caddy", filepath.Join(tools, "caddy"), nil},
	} {
		w := work{wire: "http/1.1", name: "others: " + s.name + " × 50", server: s.name, fast: "0.97 to 1.03", standing: true}
		for _, peer := range b.http1Peers("http", 50) {
			if peer.name != "fortio" {
				w.peers = append(w.peers, peer)
			}
		}
		if _, err := os.Stat(s.program); err != nil {
			w.peers = []client{{name: "wrk, h2load, hey, oha", get: "make servers-there"}} // the server is missing, and no figure
		}
		w.ours = []client{b.worker("http1-uring", func(port string) []string {
			levels := slices.DeleteFunc(httpLevels("http/1.1", 22, 50)(port), func(l string) bool { return l == "opt.client.verify=length" })
			return append(levels, "opt.client.verify=status")
		})}
		w.serve = func(ctx context.Context) (*peer, error) { return b.serve(ctx, s.argv) }
		if s.argv == nil {
			w.serve = b.caddy
		}
		all = append(all, w)
	}
	return all
}

// caddy serves the file that nginx does.
func (b *bed) caddy(ctx context.Context) (*peer, error) {
	directory, err := b.content(1 << 10)
	if err != nil {
		return nil, err
	}
	program, err := filepath.Abs(filepath.Join(".tools", "servers", "caddy"))
	if err != nil {
		return nil, err
	}
	return b.serve(ctx, func(port string) []string {
		return []string{program, "file-server", "--listen", "127.0.0.1:" + port, "--root", directory}
	})
}
