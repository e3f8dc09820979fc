package codec_test

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// mixed is a setup of a class of each codec and one of random bytes.
func mixed() contract.Setup {
	x := workertest.Message("proto", "complex")
	return contract.Setup{
		Exchange: contract.Exchange{UpBytes: 10, DownBytes: 40, UpSizes: contract.Table{{contract.TableEnd, 0, 10}}, DownSizes: contract.Table{{contract.TableEnd, 0, 40}}},
		Load: contract.Load{Connections: 1, Classes: []contract.Class{
			{Name: "proto", End: contract.TableEnd / 4, Codec: "proto", Message: x.Message},
			{Name: "json", End: contract.TableEnd / 2, Codec: "json", Message: x.Message},
			{Name: "bytes", End: contract.TableEnd, UpBytes: 10, DownBytes: 40, DownSizes: contract.Table{{contract.TableEnd, 20, 40}}},
		}},
	}
}

// What one end encodes by the class that a request names, the other decodes.
func TestClassesHaveTheirOwnMessages(t *testing.T) {
	setup := mixed()
	client, err := codec.New(setup, codec.Standard())
	if err != nil {
		t.Fatal(err)
	}
	server, own := client, client.Own()
	for class, named := range []string{"0", "1", ""} {
		d := load.Draw{Class: class, Up: 10, Down: 30}
		if of := client.Class(class); of != nil {
			d.Up, d.Down = of.UpBytes, of.DownBytes
		}
		own.Take(d)
		request, err := own.Request(nil)
		if err != nil || int64(len(request)) != d.Up || own.Structured() != (named != "") || own.Asks() != (named == "") {
			t.Fatalf("class %d: request of %d bytes, want %d; %v", class, len(request), d.Up, err)
		}
		at, err := server.Named(named)
		if err != nil || at.MediaType() != own.MediaType() {
			t.Fatalf("class %d: %v, %s", class, err, at.MediaType())
		}
		reply, err := at.RespondTo(nil, request, "30")
		if err != nil || own.Accept(reply) != nil || own.Verify(0, reply) != nil {
			t.Errorf("class %d: %v, %v", class, err, own.Verify(0, reply))
		}
		if class < 2 && at.Accept([]byte("{")) == nil {
			t.Errorf("class %d: a damaged message was taken", class)
		}
	}
	for _, wrong := range []string{"3", "-1", "x", "0,1"} {
		if _, err := server.Named(wrong); err == nil {
			t.Errorf("class %q was taken", wrong)
		}
	}
}

// Ready says the largest sizes and the means of all classes.
func TestClassesTellTheirSizes(t *testing.T) {
	setup := mixed()
	x, err := codec.New(setup, codec.Standard())
	if err != nil {
		t.Fatal(err)
	}
	proto, json := x.Class(0), x.Class(1)
	r := x.Sizes(contract.Ready{})
	up := float64(proto.UpBytes)/4 + float64(json.UpBytes)/4 + 10.0/2
	down := float64(proto.DownBytes)/4 + float64(json.DownBytes)/4 + 30.0/2
	if r.UpBytes != json.UpBytes || r.DownBytes != json.DownBytes || math.Abs(r.UpMean-up) > 1e-6 || math.Abs(r.DownMean-down) > 1e-6 {
		t.Errorf("%+v, want means of %v and %v", r, up, down)
	}
	if s := x.Setup(setup).Load.Classes; s[0].UpBytes != proto.UpBytes || s[1].DownBytes != json.DownBytes || s[2].DownBytes != 40 || setup.Load.Classes[0].UpBytes != 0 {
		t.Errorf("%+v", s)
	}
	setup.Load.Classes[1].Codec = "jsn"
	if _, err := codec.New(setup, codec.Standard()); load.KindOf(err) != contract.Unsupported {
		t.Error(err)
	}
	setup.Load.Classes[1].Codec, setup.Load.Classes[1].Message = "json", nil
	if _, err := codec.New(setup, codec.Standard()); load.KindOf(err) != contract.SetupFailed {
		t.Error(err)
	}
}
