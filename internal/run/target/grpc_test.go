package target_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"

	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// service is a gRPC server of somebody else's.
type service struct {
	pb.UnimplementedTestServiceServer
	calls atomic.Int32
}

// EmptyCall wants metadata.
func (*service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if strings.Join(md["x-key"], " ") != "1" || strings.Join(md["x-bin"], " ") != "\x01" || strings.Join(md[":authority"], " ") != "shop.example" {
		return nil, status.Error(codes.Unauthenticated, "no key\nhere\x1b[0m")
	}
	return &pb.Empty{}, nil
}

// UnaryCall answers with as many bytes as it is asked for; with more in every
// call when that is 1.
func (s *service) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if st := r.GetResponseStatus(); st.GetCode() != 0 {
		return nil, status.Error(codes.Code(st.GetCode()), st.GetMessage())
	}
	n := r.GetResponseSize()
	if n == 1 {
		n += s.calls.Add(1)
	}
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, n)}}, nil
}

// serveGRPC starts a server and returns its address.
func serveGRPC(t *testing.T, reflects func(*grpc.Server), options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	pb.RegisterTestServiceServer(s, &service{})
	if reflects != nil {
		reflects(s)
	}
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func all(s *grpc.Server) { reflection.Register(s) }

func alphaAlone(s *grpc.Server) {
	v1alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s}))
}

const unary = "/grpc.testing.TestService/UnaryCall"

func TestGRPC(t *testing.T) {
	at := serveGRPC(t, all)
	f := levels(t, target.Target{URL: "grpc://" + at + unary, Data: `{"responseSize": 100}`}, map[string]string{
		"server": "address", "client": "go-grpc", "opt.server.address": at, "opt.server.wire": "grpc:netdyno.v1", "request": "2B", "response": "104B",
		"opt.client.method": unary, "opt.client.codec": "raw", "opt.client.body": "EGQ=", "opt.client.verify": "status", "opt.client.host": "", "tls": "",
	})
	if f.Name != at+"/UnaryCall" || !f.Local || f.At.String() != at || f.Words != "gRPC OK, 104 bytes of grpc.testing.SimpleResponse, types by reflection (v1)" {
		t.Errorf("found %+v", f)
	}
	levels(t, target.Target{URL: "grpc://" + at + unary}, map[string]string{"request": "0B", "response": "2B", "opt.client.body": ""})
	file := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(file, []byte(`{"responseSize": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	f = levels(t, target.Target{URL: "grpc://" + at + unary, Data: "@" + file}, map[string]string{"opt.client.verify": "status", "opt.client.body": "EAE="})
	if !strings.Contains(f.Words, "replies of different lengths") {
		t.Errorf("words %q", f.Words)
	}
	f = levels(t, target.Target{URL: "grpc://" + at + "/grpc.testing.TestService/EmptyCall", Headers: []string{"X-Key: 1", "x-bin: AQ=="}, Host: "shop.example"}, map[string]string{
		"opt.client.headers": "", "opt.client.host": "shop.example", "response": "0B",
	})
	if text := f.Texts["opt.client.headers"]; string(text.Bytes) != "X-Key: 1\nx-bin: AQ==" || text.Secret {
		t.Errorf("the headers are %+v", text)
	}
	f = levels(t, target.Target{URL: "grpc://" + at + "/grpc.testing.TestService/EmptyCall", Headers: []string{"X-Key: 1", "x-bin: AQ"}, Host: "shop.example"}, map[string]string{"opt.client.headers": ""})
	if text := f.Texts["opt.client.headers"]; string(text.Bytes) != "X-Key: 1\nx-bin: AQ" {
		t.Errorf("the headers are %+v", text)
	}
	refused(t, target.Target{URL: "grpc://" + at + "/grpc.testing.TestService/EmptyCall"}, "answers Unauthenticated: no key·here·[0m")
}

// What is clear without need not be typed: the package, the service, or all of it.
func TestAPartOfAMethodsName(t *testing.T) {
	at := serveGRPC(t, all)
	for _, short := range []string{"/TestService/UnaryCall", "/UnaryCall", "/UnaryCall/", "/grpc.testing.TestService.UnaryCall", "/TestService.UnaryCall", "/testing.TestService.UnaryCall"} {
		f := levels(t, target.Target{URL: "grpc://" + at + short}, map[string]string{"opt.client.method": unary})
		if !strings.HasPrefix(f.Words, unary+", gRPC OK") {
			t.Errorf("%s: words %q do not name the method", short, f.Words)
		}
	}
	refused(t, target.Target{URL: "grpc://" + at + "/Service/UnaryCall"}, `has no service "Service"`)
}

// proto describes the part of the service that is called.
const proto = `syntax = "proto3";
package grpc.testing;
import "reply.proto";
message SimpleRequest { int32 response_size = 2; }
service TestService { rpc UnaryCall(SimpleRequest) returns (SimpleResponse); rpc Nowhere(SimpleRequest) returns (SimpleResponse); }
service Wrong { rpc UnaryCall(SimpleRequest) returns (SimpleResponse); }
`

func TestTypesOfAServer(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"test.proto": proto, "reply.proto": `syntax = "proto3"; package grpc.testing; message SimpleResponse {}`,
		"bad.proto": "syntax = 'proto3'", "other.proto": strings.Replace(proto, "(SimpleResponse)", "(SimpleRequest)", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f := levels(t, target.Target{URL: "grpc://" + serveGRPC(t, alphaAlone) + unary}, nil); !strings.HasSuffix(f.Words, "types by reflection (v1alpha)") {
		t.Errorf("words %q", f.Words)
	}
	at := serveGRPC(t, nil)
	file := filepath.Join(dir, "test.proto")
	f := levels(t, target.Target{URL: "grpc://" + at + unary, Proto: file, Data: `{"response_size": 7}`}, map[string]string{"opt.client.body": "EAc=", "response": "11B"})
	if !strings.HasSuffix(f.Words, "types by "+file) {
		t.Errorf("words %q", f.Words)
	}
	refused(t, target.Target{URL: "grpc://" + at + unary}, at+" has no server reflection; give --proto FILE")
	refused(t, target.Target{URL: "grpc://" + at + unary, Proto: filepath.Join(dir, "bad.proto")}, "bad.proto:1:")
	refused(t, target.Target{URL: "grpc://" + at + unary, Proto: filepath.Join(dir, "none.proto")}, "none.proto: no such file")
	refused(t, target.Target{URL: "grpc://" + at + "/grpc.testing.TestService/Nowhere", Proto: file}, "has no /grpc.testing.TestService/Nowhere: Unimplemented")
	refused(t, target.Target{URL: "grpc://" + at + "/grpc.testing.Wrong/UnaryCall", Proto: file}, "has no /grpc.testing.Wrong/UnaryCall: Unimplemented")
	guarded := serveGRPC(t, all, grpc.StreamInterceptor(func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
		return status.Error(codes.PermissionDenied, "not you")
	}))
	refused(t, target.Target{URL: "grpc://" + guarded + unary}, "refuses server reflection (PermissionDenied: not you); give --proto FILE")
}

func TestGRPCOverTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(site())
	web.EnableHTTP2 = false
	web.StartTLS() // for its certificate, and as a server that is not of gRPC
	defer web.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: web.TLS.Certificates}
	at := serveGRPC(t, all, grpc.Creds(credentials.NewTLS(config)))
	f := levels(t, target.Target{URL: "grpcs://" + at + unary, CA: ca}, map[string]string{"tls": "yes", "opt.client.ca": ca, "opt.client.host": ""})
	if !strings.HasPrefix(f.Words, "gRPC OK by TLS, 2 bytes") {
		t.Errorf("words %q", f.Words)
	}
	levels(t, target.Target{URL: "grpcs://" + at + unary, Insecure: true}, map[string]string{"opt.client.insecure": "true", "opt.client.ca": "system"})
	levels(t, target.Target{URL: "grpcs://" + at + unary, CA: ca, SNI: "example.com", Host: "shop.example"}, map[string]string{"opt.client.sni": "example.com"})
	refused(t, target.Target{URL: "grpcs://" + at + unary}, "signed by itself, not by a known authority; name that with --ca FILE, or accept any with -k")
	refused(t, target.Target{URL: "grpcs://" + at + unary, CA: ca, SNI: "shop.test"}, "is for another name")
	refused(t, target.Target{URL: "grpc://" + at + unary}, at+" speaks TLS; measure grpcs://"+at+unary)
	plain := serveGRPC(t, all)
	refused(t, target.Target{URL: "grpcs://" + plain + unary}, plain+" speaks no TLS; measure grpc://"+plain+unary)
	refused(t, target.Target{URL: "grpcs://" + web.Listener.Addr().String() + unary, CA: ca}, "speaks TLS without HTTP/2 (ALPN h2), which gRPC needs")
	config = config.Clone()
	config.ClientAuth = tls.RequireAndVerifyClientCert
	guarded := serveGRPC(t, all, grpc.Creds(credentials.NewTLS(config)))
	refused(t, target.Target{URL: "grpcs://" + guarded + unary, CA: ca}, "wants a client's certificate; name one with --cert FILE --key FILE")
	key := filepath.Join(dir, "key.pem")
	der, err := x509.MarshalPKCS8PrivateKey(web.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, target.Target{URL: "grpcs://" + guarded + unary, CA: ca, Cert: ca, Key: key}, "does not accept the certificate of --cert")
	config = config.Clone()
	config.ClientAuth = tls.RequireAnyClientCert
	levels(t, target.Target{URL: "grpcs://" + serveGRPC(t, all, grpc.Creds(credentials.NewTLS(config))) + unary, CA: ca, Cert: ca, Key: key}, map[string]string{"opt.client.cert": ca, "opt.client.key": key})
}

func TestWhatGRPCCannotMeasureIsOneSentence(t *testing.T) {
	at := serveGRPC(t, all)
	web := httptest.NewServer(site())
	defer web.Close()
	mute := loopback.Serve(t, echo)
	for _, c := range []struct {
		asked target.Target // its URL without grpc://
		want  string
	}{
		{target.Target{URL: "127.0.0.1:1" + unary}, "nothing listens on 127.0.0.1:1; start the server first"},
		{target.Target{URL: "127.0.0.1" + unary}, "names no port"},
		{target.Target{URL: at}, "names no method; expected grpc://" + at + "/pkg.Service/Method, by reflection (v1) with a service grpc.testing.TestService"},
		{target.Target{URL: at + "/grpc.testing.TestService"}, "names no method of grpc.testing.TestService; expected one of EmptyCall, UnaryCall"},
		{target.Target{URL: at + "/TestService/UnaryCal"}, `service grpc.testing.TestService has no method "UnaryCal", by reflection (v1); did you mean "UnaryCall"?`},
		{target.Target{URL: at + "/grpc.testing.TestServise/UnaryCall"}, `did you mean "grpc.testing.TestService"?`},
		{target.Target{URL: at + "/grpc.testing.TestService/UnaryCal"}, `has no method "UnaryCal", by reflection (v1); did you mean "UnaryCall"?`},
		{target.Target{URL: at + "/testing.TestService.UnaryCal"}, `service grpc.testing.TestService has no method "UnaryCal", by reflection (v1); did you mean "UnaryCall"?`},
		{target.Target{URL: at + "/grpc.testing.TestServise.UnaryCall"}, `has no service "grpc.testing.TestServise.UnaryCall"`},
		{target.Target{URL: at + unary, Data: `{"responseSise": 1}`}, `unknown field "responseSise"`},
		{target.Target{URL: at + unary, Data: `{"responseSize": "many"}`}, "invalid value for int32 field responseSize"},
		{target.Target{URL: at + unary, Data: `{`}, "--data does not fit grpc.testing.SimpleRequest: line 1, column 2"},
		{target.Target{URL: at + unary, Data: "@/nowhere.json"}, "--data: expected JSON such as {\"id\": 7}, or a file that holds it"},
		{target.Target{URL: at + unary, Data: `{"responseStatus": {"code": 5, "message": "no such\norder"}}`}, unary + " answers NotFound: no such·order"},
		{target.Target{URL: at + unary, Headers: []string{"key"}}, "expected Name: value"},
		{target.Target{URL: at + unary, Headers: []string{"grpc-status: 1"}}, "gRPC's own"},
		{target.Target{URL: at + unary, Headers: []string{"grpc-timeout: 1s"}}, "expected at most 8 digits and a unit, one of H M S m u n"},
		{target.Target{URL: at + unary, Headers: []string{"x-bin: A"}}, "has a value in base64"},
		{target.Target{URL: strings.TrimPrefix(web.URL, "http://") + unary}, "speaks HTTP/1.1 and no gRPC; measure http://"},
		{target.Target{URL: mute + unary}, "speaks no gRPC: it answers HTTP/2 with"},
	} {
		c.asked.URL = "grpc://" + c.asked.URL
		refused(t, c.asked, c.want)
	}
}

func TestFlagsOfAnotherKindOfURL(t *testing.T) {
	for _, c := range []struct {
		asked target.Target
		url   string
		want  string
	}{
		{target.Target{Proto: "a.proto"}, "http://a/", "--proto goes with grpc:// URLs"},
		{target.Target{Method: "PUT"}, "grpc://a:1/b/c", "go with http:// URLs"},
		{target.Target{Message: "a.B"}, "grpc://a:1/b/c", "says the type of its request"},
	} {
		if err := c.asked.Fit([]string{c.url}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
	}
	if err := (target.Target{Data: "{}", Body: "x"}).Fit([]string{"http://a/", "grpc://a:1/b/c"}); err != nil {
		t.Error(err)
	}
}
