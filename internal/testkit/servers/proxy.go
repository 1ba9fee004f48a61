package servers

import (
	"io"
	"net"
	"sync"
)

// Proxy is an address behind which one server after the other can stand, as a virtual address does.
type Proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex // guards target and open
	target string
	open   map[net.Conn]struct{} // nil once closed
}

// StartProxy starts a proxy in front of the target, a host and port. Close it.
func StartProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, open: make(map[net.Conn]struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the host and port of the proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Switch cuts all connections and lets those that come lead to another target.
func (p *Proxy) Switch(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	for conn := range p.open {
		_ = conn.Close()
	}
}

// Close cuts all connections and takes no more.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Switch("")
	p.mu.Lock()
	p.open = nil
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(conn) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.keep(target, client, server) {
		return
	}
	var other sync.WaitGroup
	other.Go(func() { pipe(server, client) })
	pipe(client, server)
	other.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

// keep notes both ends for the next Switch; false when one came in between.
func (p *Proxy) keep(target string, conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil || p.target != target {
		return false
	}
	for _, conn := range conns {
		p.open[conn] = struct{}{}
	}
	return true
}

// pipe copies until either end closes, and closes the other.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
