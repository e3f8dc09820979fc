package recorded

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/traffic"
)

// Methods are those that a client can repeat.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// mostNamed is how many classes are told apart by status and path; what comes after them
// is of its method's, which never takes the last numbers from it.
const mostNamed = traffic.MostClasses - 8

// classes are the classes and the paths of requests, by number. One goroutine uses it.
type classes struct {
	all       []Class
	byName    map[string]int
	options   Options
	hosts     map[string]int64 // requests that named them
	paths     []string
	byPath    map[string]int
	pathBytes int
	pathsLeft int64
	carried   map[int]traffic.Carried // by the number of the path
	byBody    map[string]int          // numbers of paths, by them and what is carried
	bodyBytes int
}

func newClasses(o Options) classes {
	return classes{byName: map[string]int{}, byPath: map[string]int{}, byBody: map[string]int{}, carried: map[int]traffic.Carried{}, hosts: map[string]int64{}, options: o}
}

// enter classifies a request: by the name that its log gives it; else by its method, the
// status of its reply where that is none of success, and the first part of its path where
// paths are kept.
func (c *classes) enter(s seen) (traffic.Request, reason) {
	if s.up < 0 || s.down < 0 || s.up > traffic.MostBytes || s.down > traffic.MostBytes {
		return traffic.Request{}, noNumber
	}
	r := traffic.Request{Up: s.up, Down: s.down, Path: traffic.NoPath}
	class, why := c.classOf(s)
	if why == "" && !c.asksFor(s) {
		why = notAsked
	}
	if why != "" {
		return r, why
	}
	path := ""
	if c.options.Paths && s.path != "" {
		var ok bool
		if path, ok = asked(s.path); !ok {
			return r, noPath
		}
		if s.body == nil {
			r.Path = c.pathOf(path)
		}
		if s.class == "" {
			class.Name = class.Method + " " + firstPart(path)
			if class.Status != 0 {
				class.Name += " " + strconv.Itoa(class.Status)
			}
		}
	}
	if s.body != nil {
		if r.Path = c.carries(path, s); r.Path == traffic.NoPath {
			return r, noRoom
		}
	}
	r.Class = c.numberOf(class)
	if r.Class < 0 {
		return r, noClass
	}
	k := &c.all[r.Class]
	if s.known {
		k.Known++
	}
	k.Requests++
	k.Up += s.up
	k.Down += s.down
	k.MostUp, k.MostDown = max(k.MostUp, s.up), max(k.MostDown, s.down)
	return r, ""
}

// asksFor tells whether a request is to be kept, and counts the host that it names.
func (c *classes) asksFor(s seen) bool {
	o := c.options
	if len(o.Methods) > 0 && !slices.Contains(o.Methods, s.method) || len(o.Only) > 0 && !slices.ContainsFunc(o.Only, func(part string) bool { return strings.Contains(s.path, part) }) {
		return false
	}
	const most = 1000 // hosts
	if scheme, rest, whole := strings.Cut(s.path, "://"); whole && !strings.Contains(scheme, "/") {
		host, _, _ := strings.Cut(rest, "/")
		if name := scheme + "://" + host; c.hosts[name] > 0 || len(c.hosts) < most {
			c.hosts[strings.Clone(name)]++
		}
	}
	return true
}

// classOf is a request's class without its path.
func (c *classes) classOf(s seen) (Class, reason) {
	k := Class{Name: s.class, Method: s.method}
	if s.method == "" && s.class == "" {
		return k, noMethod
	}
	if s.method != "" && !slices.Contains(Methods, s.method) {
		return k, noMethod
	}
	switch {
	case s.status == 499 || s.status > 0 && s.status < 200:
		return k, notOver
	case s.status >= 300 && s.status < 500 && s.status != 304: // 304 answers a condition, which is not kept
		k.Status = s.status
	}
	if k.Name == "" {
		if k.Name = k.Method; k.Status != 0 {
			k.Name = fmt.Sprintf("%s %d", k.Method, k.Status)
		}
	}
	return k, ""
}

// numberOf returns the number of a class; of one after the most that are told apart that of
// its method, and −1 where that has none.
func (c *classes) numberOf(k Class) int {
	if n, known := c.byName[k.Name]; known {
		return n
	}
	if len(c.all) >= mostNamed {
		if k.Method == "" {
			return -1
		}
		k = Class{Name: k.Method + " others", Method: k.Method}
		if n, known := c.byName[k.Name]; known {
			return n
		}
	}
	c.byName[k.Name] = len(c.all)
	c.all = append(c.all, k)
	return len(c.all) - 1
}

// pathOf returns the number of a path, none where it comes after the most that are kept.
func (c *classes) pathOf(path string) int {
	if n, known := c.byPath[path]; known {
		return n
	}
	if len(c.paths) == traffic.MostPaths || c.pathBytes+len(path)+1 > traffic.MostPathsLen {
		c.pathsLeft++
		return traffic.NoPath
	}
	path = strings.Clone(path)
	c.byPath[path] = c.addPath(path)
	return len(c.paths) - 1
}

func (c *classes) addPath(path string) int {
	c.paths = append(c.paths, path)
	c.pathBytes += len(path) + 1
	return len(c.paths) - 1
}

// carries returns the number of the path, which may be none, whose requests carry this; a
// body that many carry is held once. NoPath is returned where there is no room for it.
func (c *classes) carries(path string, s seen) int {
	sum := sha256.Sum256(s.body)
	key := path + "\n" + s.media + "\n" + string(sum[:])
	if n, known := c.byBody[key]; known {
		return n
	}
	if len(s.body) > traffic.MostBody || c.bodyBytes+len(s.body) > traffic.MostBodies || len(c.paths) == traffic.MostPaths || c.pathBytes+len(path)+1 > traffic.MostPathsLen {
		return traffic.NoPath
	}
	n := c.addPath(strings.Clone(path))
	c.byBody[key], c.carried[n] = n, traffic.Carried{MediaType: s.media, Content: slices.Clone(s.body)}
	c.bodyBytes += len(s.body)
	return n
}

// firstPart is a path's first part: /cart of /cart/7/items.
func firstPart(path string) string {
	if end := strings.IndexByte(path[1:], '/'); end >= 0 {
		path = path[:end+1]
	}
	const most = 40
	if len(path) > most {
		path = path[:most] + ".."
	}
	return path
}

const mostPath = 8 << 10

// asked is the path of a request line or a URL as it can be asked for again, without its
// query; what a log has escaped as \xHH is escaped as URLs do.
func asked(path string) (string, bool) {
	if scheme, rest, found := strings.Cut(path, "://"); found && !strings.Contains(scheme, "/") {
		begin := strings.IndexByte(rest, '/')
		if begin < 0 {
			return "/", true
		}
		path = rest[begin:]
	}
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || len(path) > mostPath {
		return "", false
	}
	plain := true
	for i := range len(path) {
		plain = plain && path[i] > ' ' && path[i] < 0x7f && path[i] != '\\'
	}
	if !plain {
		path = escaped(path)
	}
	_, err := url.ParseRequestURI(path)
	return path, err == nil
}

func escaped(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+3 < len(path) && path[i+1] == 'x' && isHex(path[i+2]) && isHex(path[i+3]):
			b.WriteString("%" + strings.ToUpper(path[i+2:i+4]))
			i += 3
		case c <= ' ' || c >= 0x7f || c == '\\':
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
