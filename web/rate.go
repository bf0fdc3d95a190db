package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// How often one client may ask, and how often it may be wrong about the token: so often at
// once, and so often a second afterwards.
const (
	mostQuestions, questionsPerSecond = 400, 40 // a page of charts asks for ten files
	mostGuesses, guessesPerSecond     = 10, 0.5
	// mostClients is how many are told apart; the others count as one.
	mostClients = 4096
)

// A rate lets each client do something so often at once, and so often a second.
type rate struct {
	most, perSecond float64
	now             func() time.Time

	mu      sync.Mutex
	clients map[string]bucket
}

// A bucket is what one client may do still, and since when.
type bucket struct {
	left float64
	at   time.Time
}

func newRate(most, perSecond float64, now func() time.Time) *rate {
	return &rate{most: most, perSecond: perSecond, now: now, clients: map[string]bucket{}}
}

// may tells whether a client may do it once more; take counts it.
func (r *rate) may(client string, take float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	b, known := r.clients[client]
	if !known {
		if len(r.clients) >= mostClients {
			r.forget(now)
		}
		if len(r.clients) >= mostClients {
			client = "" // one of the others
			b, known = r.clients[client]
		}
	}
	if !known {
		b = bucket{r.most, now}
	}
	b.left, b.at = min(r.most, b.left+now.Sub(b.at).Seconds()*r.perSecond), now
	may := b.left >= 1
	if may {
		b.left -= take
	}
	r.clients[client] = b
	return may
}

// forget lets go of those who may do all again.
func (r *rate) forget(now time.Time) {
	for client, b := range r.clients {
		if b.left+now.Sub(b.at).Seconds()*r.perSecond >= r.most {
			delete(r.clients, client)
		}
	}
}

// clientOf is who asks, as far as rates are concerned: whom the proxy names, else the
// address, of IPv6 the network that one household has.
func (s *Server) clientOf(r *http.Request) string {
	if s.TrustHeader != "" && s.trusted(r.RemoteAddr) {
		return "user " + r.Header.Get(s.TrustHeader)
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address := at.Addr().Unmap()
	if address.Is6() {
		if network, err := address.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return address.String()
}

// tooOften answers who asks too often.
func tooOften(w http.ResponseWriter, what string) {
	w.Header().Set("Retry-After", "2")
	http.Error(w, what, http.StatusTooManyRequests)
}
