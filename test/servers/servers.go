package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"netdyno/test/programs"
)

// server is one of somebody else's.
type server struct {
	name   string
	needs  string                     // the program without which it is left out
	start  func(port string) []string // its command
	dir    string                     // that it is started in
	line   []string                   // what is typed behind netdyno; PORT stands for its port
	behind []func(*site) process      // what must run before
	at     int                        // its place in the list
}

// typed is the line with its port.
func (s server) typed(port string) []string {
	line := make([]string, len(s.line))
	for i, word := range s.line {
		line[i] = strings.ReplaceAll(word, "PORT", port)
	}
	return line
}

// site is where the servers find what they need.
type site struct {
	root  string // of the repository
	tools string // what make servers has installed
	temp  string // removed at the end
	nginx []string
	proxy []string
}

// firstPort is the port of the first server; each further server has the next one, so
// that the lines in docs/servers.md stay the same.
const firstPort = 28080

func (s *site) port(of server) string { return strconv.Itoa(firstPort + of.at) }

func newSite() (*site, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s := &site{root: root, tools: filepath.Join(root, ".tools", "servers")}
	if s.temp, err = os.MkdirTemp("", "netdyno-servers-"); err != nil {
		return nil, err
	}
	page := make([]byte, 4<<10)
	for i := range page {
		page[i] = 'x'
	}
	if err := os.WriteFile(filepath.Join(s.temp, "index.html"), page, 0o644); err != nil {
		return nil, err
	}
	static := programs.Nginx{Own: filepath.Join(s.temp, "static"), Root: s.temp, Listen: "127.0.0.1:" + strconv.Itoa(firstPort), Events: "worker_connections 1024;"}
	if s.nginx, err = static.Command(); err != nil {
		return nil, err
	}
	proxy := static
	proxy.Own, proxy.Listen = filepath.Join(s.temp, "proxy"), "127.0.0.1:"+strconv.Itoa(firstPort+1)
	proxy.Server = fmt.Sprintf("location / { proxy_pass http://127.0.0.1:%d; }", behindPort)
	s.proxy, err = proxy.Command()
	return s, err
}

// behindPort is that of the server behind nginx.
const behindPort = firstPort - 1

// servers are all of them, in the order of docs/servers.md.
func (s *site) servers() []server {
	apps, venv, goserver := filepath.Join(s.root, "test", "servers", "apps"), filepath.Join(s.tools, "venv", "bin"), filepath.Join(s.tools, "goserver")
	ours := func(kind string) func(string) []string {
		return func(port string) []string { return []string{goserver, kind, port} }
	}
	express := func(port string) []string { return []string{"node", filepath.Join(apps, "express.js"), port} }
	const orders = "http://127.0.0.1:PORT/orders/7"
	all := []server{
		{name: "nginx, a file", needs: "nginx", start: func(string) []string { return s.nginx }, line: []string{"http://127.0.0.1:PORT/"}},
		{name: "nginx as a proxy of express", needs: "nginx", start: func(string) []string { return s.proxy }, line: []string{orders},
			behind: []func(*site) process{func(*site) process {
				return process{argv: express(strconv.Itoa(behindPort)), dir: apps, port: strconv.Itoa(behindPort)}
			}}},
		{name: "Node with express", needs: "node", start: express, line: []string{"localhost:PORT/orders/7"}},
		{name: "uvicorn with FastAPI", needs: filepath.Join(venv, "uvicorn"), start: func(port string) []string {
			return []string{filepath.Join(venv, "uvicorn"), "fast:app", "--port", port}
		}, line: []string{orders, "-H", "Accept: application/json"}},
		{name: "gunicorn with Flask", needs: filepath.Join(venv, "gunicorn"), start: func(port string) []string {
			return []string{filepath.Join(venv, "gunicorn"), "flasked:app", "--bind", "127.0.0.1:" + port, "-w", "2"}
		}, line: []string{orders}},
		{name: "Go net/http, HTTP/1.1", needs: goserver, start: ours("http"), line: []string{orders}},
		{name: "Go net/http, HTTP/2 by TLS", needs: goserver, start: ours("https"), line: []string{"https://localhost:PORT/orders/7", "-k"}},
		{name: "Go net/http, HTTP/2 without TLS", needs: goserver, start: ours("h2c"), line: []string{orders, "--http2"}},
		{name: "Go gRPC with reflection", needs: goserver, start: ours("grpc"), line: []string{"grpc://127.0.0.1:PORT/UnaryCall", "--data", `{"responseSize": 100}`}},
		{name: "Go gRPC without reflection", needs: goserver, start: ours("grpc-mute"),
			line: []string{"grpc://127.0.0.1:PORT/UnaryCall", "--proto", "test/servers/apps/test.proto"}},
		{name: "Java's com.sun.net.httpserver", needs: "java", start: func(port string) []string {
			return []string{"java", "Orders.java", port}
		}, line: []string{orders}},
		{name: "Caddy", needs: filepath.Join(s.tools, "caddy"), start: func(port string) []string {
			return []string{filepath.Join(s.tools, "caddy"), "file-server", "--listen", "127.0.0.1:" + port, "--root", s.temp}
		}, line: []string{"http://127.0.0.1:PORT/"}},
		{name: "Python's grpcio", needs: filepath.Join(venv, "python"), start: func(port string) []string {
			return []string{filepath.Join(venv, "python"), "grpcio.py", port}
		}, line: []string{"grpc://127.0.0.1:PORT/shop.v1.Shop/Buy", "--data", `{"item": "tea"}`}},
		{name: "Node with express, server-sent events", needs: "node", start: express, line: []string{"http://127.0.0.1:PORT/events"}},
		{name: "uvicorn with FastAPI, server-sent events", needs: filepath.Join(venv, "uvicorn"), start: func(port string) []string {
			return []string{filepath.Join(venv, "uvicorn"), "fast:app", "--port", port}
		}, line: []string{"http://127.0.0.1:PORT/events"}},
		{name: "Python's grpcio, a stream", needs: filepath.Join(venv, "python"), start: func(port string) []string {
			return []string{filepath.Join(venv, "python"), "grpcio.py", port}
		}, line: []string{"grpc://127.0.0.1:PORT/shop.v1.Shop/Follow", "--data", `{"item": "tea"}`}},
		{name: "Python's websockets", needs: filepath.Join(venv, "python"), start: func(port string) []string {
			return []string{filepath.Join(venv, "python"), "sockets.py", port}
		}, line: []string{"ws://127.0.0.1:PORT/", "--data", "hello"}},
		{name: "Caddy, HTTP/3", needs: filepath.Join(s.tools, "caddy"), start: func(port string) []string {
			return []string{"env", "PORT=" + port, "ROOT=" + s.temp, filepath.Join(s.tools, "caddy"), "run", "--config", "Caddyfile"}
		}, line: []string{"https://localhost:PORT/", "--http3", "-k"}},
	}
	for i := range all {
		all[i].at, all[i].dir = i, apps
		all[i].line = append(all[i].line, "-c", "10", "-d", "5s") // one number of connections: five seconds are enough on a busy machine too
	}
	return all
}
