package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/reflection"

	"netdyno/internal/run/curl"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// website starts an HTTP server of somebody else's and puts its address into a
// variable: website NAME.
func website(ts *testscript.TestScript, negated bool, args []string) {
	wait := time.Duration(0)
	if len(args) == 2 {
		var err error
		wait, err = time.ParseDuration(args[1])
		ts.Check(err)
	}
	if negated || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: website NAME [WAIT]")
	}
	var tired, late, wrong atomic.Int64
	var once sync.Map // what /once was asked for
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/broken":
			http.Error(w, "out of coffee", http.StatusInternalServerError)
		case "/login": // of ann, who gets a cookie and a token
			if r.FormValue("user") != "ann" || r.FormValue("password") != "c8!o" {
				http.Error(w, "no such\x01 user", http.StatusUnauthorized)
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "cookie-of-ann", Path: "/"})
			w.Header().Set("X-Csrf", "csrf-of-ann")
			_, _ = w.Write([]byte(`{"data": {"access_token": "tok/\"en-of-ann"}, "user": 7}`))
		case "/private/7": // asks for all of them
			body, err := io.ReadAll(r.Body)
			sid, none := r.Cookie("sid")
			var order struct{ Token string }
			if err != nil || none != nil || sid.Value != "cookie-of-ann" || r.Header.Get("X-Csrf") != "csrf-of-ann" || r.URL.Query().Get("t") != `tok/"en-of-ann` ||
				json.Unmarshal(body, &order) != nil || order.Token != `tok/"en-of-ann` || !strings.Contains(string(body), "{left}") {
				http.Error(w, "who are you?", http.StatusForbidden)
				return
			}
			_, _ = w.Write([]byte("hello ann"))
		case "/echo/tok/\"en-of-ann": // and tells what it was asked for
			if tired.Add(1) > 4 {
				http.Error(w, r.URL.Path[:len("/echo/")+10]+r.RequestURI, http.StatusForbidden)
			}
		case "/graph": // each tenth reply is one of errors
			if wrong.Add(1)%10 == 0 {
				_, _ = io.WriteString(w, `{"errors":[{"message":"no such field"}],"data":null}`)
			} else {
				_, _ = io.WriteString(w, `{"data":{"items":[1,2]}}`)
			}
		case "/late": // each tenth reply never comes
			if late.Add(1)%10 == 0 {
				<-r.Context().Done()
			}
		case "/tired": // of what a client asks once it was verified
			if tired.Add(1) > 5 {
				http.Error(w, "asleep", http.StatusInternalServerError)
			}
		case "/once":
			body, _ := io.ReadAll(r.Body)
			asked := fmt.Sprint(r.URL.Query().Get("id"), r.Header.Get("X-Id"), string(body))
			if _, before := once.LoadOrStore(asked, true); before {
				http.Error(w, "seen", http.StatusConflict)
			}
		default:
			time.Sleep(wait)
			_, _ = w.Write(make([]byte, 123)) // the client may be gone
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], strings.TrimPrefix(server.URL, "http://"))
}

// shop is a gRPC server of somebody else's.
type shop struct {
	pb.UnimplementedTestServiceServer
}

// UnaryCall answers with as many bytes as it is asked for.
func (shop) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, r.GetResponseSize())}}, nil
}

// EmptyCall answers nothing to nothing.
func (shop) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return &pb.Empty{}, nil }

// StreamingOutputCall sends an empty message each millisecond until the client ends the call.
func (shop) StreamingOutputCall(_ *pb.StreamingOutputCallRequest, to grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	for {
		if err := to.Send(&pb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// StreamingInputCall says how many bytes came.
func (shop) StreamingInputCall(from grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse]) error {
	for sum := int32(0); ; {
		r, err := from.Recv()
		if errors.Is(err, io.EOF) {
			return from.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: sum})
		} else if err != nil {
			return err
		}
		sum += int32(len(r.GetPayload().GetBody()))
	}
}

// FullDuplexCall sends back what comes.
func (shop) FullDuplexCall(s grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.Send(&pb.StreamingOutputCallResponse{Payload: r.GetPayload()}); err != nil {
			return err
		}
	}
}

// grpcsite starts one and puts its address into a variable; its reflection is on
// unless it is mute: grpcsite NAME [mute].
func grpcsite(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: grpcsite NAME [mute]")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := grpc.NewServer()
	pb.RegisterTestServiceServer(server, shop{})
	if len(args) == 1 {
		reflection.Register(server)
	}
	go func() { _ = server.Serve(l) }() // ends with Stop
	ts.Defer(server.Stop)
	ts.Setenv(args[0], l.Addr().String())
}

func TestArmsAreNamedByTheirURLs(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ urls, names, want string }{
		{"http://a:1/|http://b/", "a:1|b", "a:1|b"},
		{"http://a:1/x?q=1", "a:1/x", "a:1/x"},
		{"http://a:1/x?q=1&s=2|http://a:1/x?q=2&s=2", "a:1/x|a:1/x", "a:1/x-q-1|a:1/x-q-2"},
		{"http://a:1/x|http://a:1/x?q=2", "a:1/x|a:1/x", "a:1/x|a:1/x-q-2"},
		{"http://a:1/x|http://a:1/x|http://b/", "a:1/x|a:1/x|b", "a:1/x-a|a:1/x-b|b"},
		{"http://a/|https://a/", "a|a", "a-http|a-https"},
		{"http://a/~joe/it's/(b);v=1,2", "a/~joe/it's/(b);v=1,2", "a/-joe/it-s/-b-v-1-2"},
		{"http://a/" + long + "/1|http://a/" + long + "/2", "a/" + long + "/1|a/" + long + "/2", "a/xxxxxxxxxxxxxxxxxxxxxxxxxxx..xxxxxxxxxxxxxxxxxxxxxxxxxxx/1|a/xxxxxxxxxxxxxxxxxxxxxxxxxxx..xxxxxxxxxxxxxxxxxxxxxxxxxxx/2"},
		{"grpc://a:1/v1.Shop/Buy|grpc://a:1/v2.Shop/Buy|http://b/", "a:1/Buy|a:1/Buy|b", "a:1/v1.Shop/Buy|a:1/v2.Shop/Buy|b"},
		{"http://[fe80::1%25eth0]:80/x", "[fe80::1%eth0]:80/x", "[fe80::1-eth0]:80/x"},
	} {
		var arms []session.Arm
		var urls []*url.URL
		for i, text := range strings.Split(c.urls, "|") {
			u, err := target.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			urls = append(urls, u)
			arms = append(arms, session.Arm{Name: strings.Split(c.names, "|")[i]})
		}
		nameArms(arms, urls, nil)
		var got []string
		for _, a := range arms {
			got = append(got, a.Name)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%.80s: named %q, want %q", c.urls, got, c.want)
		}
	}
}

func TestDIsADurationOrData(t *testing.T) {
	for text, want := range map[string]string{"10s": "10s ", "1h": "1h ", "a=1": " a=1", `{"a": 1}`: ` {"a": 1}`, "@file": " @file", "10": "", "0.5": ""} {
		var duration string
		var data []curl.Piece
		err := either{&duration, pieces{curl.Data, &data}}.Set(text)
		got := duration + " "
		for _, p := range data {
			got += p.Text
		}
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("-d %s is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAURLIsRun(t *testing.T) {
	isCommand := func(name string) bool { return name == "report" }
	for _, c := range []struct{ args, want string }{
		{"http://a/ http://b/", "run http://a/ http://b/"},
		{"-c 10 http://a/", "run -c 10 http://a/"},
		{"report http://a/", "report http://a/"},
		{"event-loops", "run event-loops"},
		{"event-lops", "event-lops"},
		{"", ""},
	} {
		if got := withRun(strings.Fields(c.args), isCommand); strings.Join(got, " ") != c.want {
			t.Errorf("%q becomes %q", c.args, got)
		}
	}
	for _, argv := range []string{"netdyno run -c 1 http://a/", "netdyno -c 1 http://a/"} {
		if got := strings.Join(typedAfter(strings.Fields(argv), "run"), " "); got != "-c 1 http://a/" {
			t.Errorf("%q has %q after run", argv, got)
		}
	}
}

// What is typed stays, what is not has the levels of a quick look; a duration
// chooses the blocks.
func TestQuickLook(t *testing.T) {
	for _, c := range []struct {
		typed string
		arms  int
		flags urlFlags
		has   string // separated by spaces
		fails string
	}{
		{"", 1, urlFlags{}, "connections=1,10,100 window=500ms settle=5%/30s", ""},
		{"", 2, urlFlags{}, "connections=10 window=160ms warmup=250ms settle=30s compare.primary=exchanges_per_s", ""},
		{"", 2, urlFlags{judge: "service_p99_us,exchanges_per_s"}, "compare.primary=service_p99_us,exchanges_per_s", ""},
		{"compare.primary=exchanges_per_s", 2, urlFlags{judge: "service_p99_us"}, "", "expected one of them"},
		{"", 2, urlFlags{duration: "1m"}, "blocks=166 window=160ms", ""},
		{"", 2, urlFlags{duration: "1h"}, "blocks=358 window=5s", ""},
		{"connections=1", 2, urlFlags{}, "settle=30s", ""},
		{"window=10s", 2, urlFlags{}, "settle=30s", ""},
		{"rate=1000", 2, urlFlags{connections: "7"}, "connections=7 compare.primary=response_p99_us", ""},
		{"window=2s blocks=4", 1, urlFlags{}, "window=2s blocks=4 settle=5%/30s", ""},
		{"", 1, urlFlags{duration: "15s", connections: "1"}, "blocks=16 window=937ms", ""},
		{"", 1, urlFlags{duration: "1s"}, "blocks=3 window=100ms", ""},
		{"", 1, urlFlags{duration: "1h", connections: "1"}, "blocks=360 window=10s", ""},
		{"", 1, urlFlags{duration: "1h"}, "blocks=360 window=3.333s", ""},
		{"arrival=burst:on=10ms,off=90ms rate=200", 1, urlFlags{duration: "6s", connections: "5"}, "window=375ms blocks=16", ""},
		{"arrival=steps:100,200/5s", 1, urlFlags{}, "window=10s blocks=1", ""},
		{"arrival=steps:100,200/5s", 1, urlFlags{duration: "8s"}, "", "would not run whole"},
		{"arrival=steps:100,200/5s window=1s", 1, urlFlags{}, "", "would not run whole"},
		{"window=2s", 1, urlFlags{duration: "1m", connections: "1"}, "blocks=30 window=2s", ""},
		{"", 1, urlFlags{number: "1000"}, "connections=50 amount=20 blocks=1", ""},
		{"", 1, urlFlags{number: "7"}, "connections=7 amount=1 blocks=1", ""},
		{"", 1, urlFlags{number: "1000", connections: "30"}, "connections=30 amount=33 blocks=1", ""},
		{"", 1, urlFlags{number: "10", connections: "30"}, "", "at least a request for each"},
		{"", 1, urlFlags{number: "1000", connections: "1,10"}, "", "one number of connections"},
		{"", 1, urlFlags{number: "0"}, "", "expected a number of requests"},
		{"window=1s", 1, urlFlags{number: "10"}, "", "expected one of them"},
		{"", 1, urlFlags{duration: "0s"}, "", "expected how long to go on"},
		{"connections=3", 1, urlFlags{connections: "4"}, "", "given twice"},
		{"blocks=3", 1, urlFlags{duration: "4s"}, "", "expected one of them"},
		{"", 1, urlFlags{duration: "soon"}, "", "--duration"},
	} {
		arms := []session.Arm{{Name: "a:1/x"}, {Name: "b"}}[:c.arms]
		p := looked{typed: strings.Fields(c.typed), arms: c.arms}
		err := p.hold(c.flags, true, arms)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		for _, want := range strings.Fields(c.has) {
			if all := append(p.typed, asTyped(p.set)...); !slices.Contains(all, want) {
				t.Errorf("typed %q, flags %+v: %q lacks %s (%v)", c.typed, c.flags, all, want, err)
			}
		}
	}
}

// A window holds twenty exchanges of a slow server, and ten of a slow schedule, as far as
// ten seconds do.
func TestWindowsFitWhatIsAsked(t *testing.T) {
	for _, c := range []struct {
		typed string
		arms  int
		takes time.Duration
		has   string

		begins time.Duration // of a reply in events, until the first one
	}{
		{"", 1, 2 * time.Millisecond, "window=500ms warmup=250ms", 0},
		{"", 1, 100 * time.Millisecond, "window=500ms warmup=250ms", 0},
		{"", 2, 100 * time.Millisecond, "window=300ms warmup=250ms", 0},
		{"", 1, 2 * time.Second, "window=1s warmup=4s", 0},
		{"rate=2.5", 1, time.Millisecond, "window=1s", 0},
		{"rate=0.5,1k", 1, time.Millisecond, "window=625ms", 0},
		{"rate=max", 1, time.Millisecond, "window=500ms", 0},
		{"window=3s", 1, time.Second, "window=3s", 0},
		{"", 1, 2 * time.Second, "window=1s warmup=600ms connections=10", 300 * time.Millisecond},
		{"", 1, 500 * time.Millisecond, "warmup=600ms connections=1,10,100", 300 * time.Millisecond},
		{"connections=5", 1, 2 * time.Second, "warmup=250ms connections=5", time.Millisecond},
	} {
		p := looked{typed: strings.Fields(c.typed), arms: c.arms, takes: c.takes, begins: cmp.Or(c.begins, c.takes)}
		arms := []session.Arm{{Name: "a:1/x"}, {Name: "b"}}[:c.arms]
		if c.begins > 0 {
			arms[0].Levels = map[string]string{"events": "yes"}
		}
		if err := p.hold(urlFlags{}, true, arms); err != nil {
			t.Fatal(err)
		}
		for _, want := range strings.Fields(c.has) {
			if all := append(p.typed, asTyped(p.set)...); !slices.Contains(all, want) {
				t.Errorf("%+v: %q lacks %s", c, all, want)
			}
		}
	}
}

// asTyped is what a command sets, as it would be typed.
func asTyped(set []session.Set) []string {
	var all []string
	for _, s := range set {
		all = append(all, s.Key+"="+s.Value)
	}
	return all
}
