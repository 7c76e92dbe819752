package fetch

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"planwave/internal/guard"
	"planwave/internal/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tool is fetch_url as the registry calls it, where these addresses are allowed.
func tool(t *testing.T, allow string, c Config) *tools.Registry {
	t.Helper()
	networks, err := guard.ParseAllow(allow)
	if err != nil {
		t.Fatal(err)
	}
	c.Guard = guard.New(networks)
	r, err := tools.New(New(c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetched is what the tool answers for an address.
func fetched(t *testing.T, r *tools.Registry, address string) tools.Result {
	t.Helper()
	args, err := json.Marshal(map[string]string{"url": address})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Call(t.Context(), Name, args)
	if err != nil {
		t.Fatalf("fetch %s: %v", address, err)
	}
	return out
}

// served is a server on an address of this machine, and its URL.
func served(t *testing.T, host string, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if host != "127.0.0.1" {
		lc := net.ListenConfig{}
		l, err := lc.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Listener.Close(); err != nil {
			t.Fatal(err)
		}
		s.Listener = l
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// say answers with a text. Whoever asked may be gone by then.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// answering is a server that always answers the same.
func answering(t *testing.T, kind, body string) string {
	t.Helper()
	return served(t, "127.0.0.1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		say(w, body)
	})
}

// mentions fails unless text holds every one of the words.
func mentions(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%.2000q does not mention %q", text, w)
		}
	}
}

// names is a server of the domain name system. A name with several lists of
// addresses answers with the next one each time it is asked, and stays with the
// last.
type names struct {
	mu    sync.Mutex
	lists map[string][][]string
}

// resolver starts the server and returns a resolver that asks it.
func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	lc := net.ListenConfig{}
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve(conn)
	}()
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 512)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		n.answer(&m)
		if out, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(out, from) // who asks asks again
		}
	}
}

// answer turns a question into its answer. Addresses of IPv4 and IPv6 are asked
// for separately, and the question for IPv4 counts.
func (n *names) answer(m *dnsmessage.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	q := m.Questions[0]
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	lists := n.lists[name]
	if len(lists) == 0 {
		m.RCode = dnsmessage.RCodeNameError
		return
	}
	for _, text := range lists[0] {
		a := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if q.Type == dnsmessage.TypeA && len(lists) > 1 {
		n.lists[name] = lists[1:]
	}
}
