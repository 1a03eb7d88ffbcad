package preflight

import (
	"crypto/tls"
	"os"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/test/cluster/pki"
)

func TestCheckNodeAPI(t *testing.T) {
	t.Parallel()
	authority, err := pki.New("serving")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	end := now.Add(30 * 24 * time.Hour).UTC().Truncate(time.Second)
	serving := func() pki.Pair {
		pair, err := authority.ServerUntil(end, "192.0.2.7")
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	pair, other := serving(), serving()
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	start, until := cert.Leaf.NotBefore.Format(time.RFC3339), end.Format(time.RFC3339)
	const subject = "node_api DIR/node.crt: "
	for name, test := range map[string]struct {
		files map[string]string // files in place of good ones; an empty text removes the file
		now   time.Time
		want  string
	}{
		"as they should be": {now: now, want: "ok " + subject + "valid until " + until},
		"no certificate": {
			files: map[string]string{"node.crt": ""}, now: now, want: "fail " + subject + "certificate: open DIR/node.crt: no such file or directory",
		},
		"the key of another certificate": {
			files: map[string]string{"node.key": string(other.Key)}, now: now,
			want: "fail " + subject + "certificate DIR/node.crt with the key DIR/node.key: tls: private key does not match public key; write both anew, as PEM",
		},
		"no key": {files: map[string]string{"node.key": ""}, now: now, want: "fail " + subject + "key: open DIR/node.key: no such file or directory"},
		"no authorities": {
			files: map[string]string{"clients.crt": ""}, now: now, want: "fail " + subject + "client authority: open DIR/clients.crt: no such file or directory",
		},
		"authorities that are none": {
			files: map[string]string{"clients.crt": "garbage"}, now: now, want: "fail " + subject + "client authority DIR/clients.crt: no certificate in it; write them as PEM",
		},
		"a week and a second left": {now: end.Add(-certificateNotice - time.Second), want: "ok " + subject + "valid until " + until},
		"a week left": {
			now: end.Add(-certificateNotice), want: "warn " + subject + "valid until " + until + " only; renew it, and the agent takes the new one by itself",
		},
		"expired":       {now: end.Add(time.Second), want: "fail " + subject + "expired at " + until + "; renew it"},
		"not valid yet": {now: now.Add(-time.Hour), want: "fail " + subject + "not valid before " + start + "; check the clock of this node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newSite(t)
			n.Cfg.NodeAPI = config.NodeAPI{CertFile: n.Path("node.crt"), KeyFile: n.Path("node.key"), ClientCAFile: n.Path("clients.crt")}
			for name, text := range map[string]string{"node.crt": string(pair.Cert), "node.key": string(pair.Key), "clients.crt": string(authority.PEM)} {
				n.Write(t, name, text)
			}
			for name, text := range test.files {
				n.Write(t, name, text)
				if text == "" {
					if err := os.Remove(n.Path(name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			n.expect(t, checkNodeAPI(n.Cfg, test.now), test.want)
		})
	}
	if got := checkNodeAPI(config.Default(), now); got != nil {
		t.Errorf("where none is served: %v", got)
	}
}
