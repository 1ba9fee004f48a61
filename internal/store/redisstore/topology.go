package redisstore

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A deployment is written as a URL; hosts without a port get the usual one, user and password are
// percent-encoded:
//
//	redis://[user:pass@]host:6379/0                       one server; rediss:// for TLS
//	redis://primary:6379?replica=host:6379&replica=host   writes to the primary, reads from the replicas
//	redis-sentinel://[user:pass@]host,host/name           the primary that Sentinel names
//	redis-cluster://[user:pass@]host,host[?replicas=read] Cluster; replicas=read also reads from replicas
//	redis-ring://[user:pass@]host,host                    client-side consistent hashing, for the detail role
type topology struct {
	scheme         string
	user, password string
	hosts          []string // host:port; of a primary with replicas, the primary comes first
	db             int
	master         string // the name that Sentinel knows the primary by
	readReplicas   bool
	timeout        time.Duration // of a dial, a write and a read
}

const (
	schemeSingle   = "redis"
	schemeTLS      = "rediss"
	schemeSentinel = "redis-sentinel"
	schemeCluster  = "redis-cluster"
	schemeRing     = "redis-ring"
)

// parseTopology reads a deployment's URL. Its errors never repeat what may hold a password.
func parseTopology(raw string) (topology, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || !slices.Contains([]string{schemeSingle, schemeTLS, schemeSentinel, schemeCluster, schemeRing}, scheme) {
		return topology{}, errors.New("must begin with redis://, rediss://, redis-sentinel://, redis-cluster:// or redis-ring://")
	}
	t := topology{scheme: scheme}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	end, err := url.Parse(tail)
	if err != nil || end.Fragment != "" || strings.Contains(tail, "@") {
		return topology{}, errors.New("what follows the host is malformed; / ? # @ in user and password must be percent-encoded")
	}
	hosts := authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		hosts = authority[i+1:]
		if err := t.setUser(authority[:i]); err != nil {
			return topology{}, err
		}
	}
	port := "6379"
	if scheme == schemeSentinel {
		port = "26379"
	}
	if t.hosts, err = splitHosts(hosts, port); err != nil {
		return topology{}, err
	}
	if err := t.setPath(strings.TrimPrefix(end.Path, "/")); err != nil {
		return topology{}, err
	}
	return t, t.setQuery(end.RawQuery)
}

func (t *topology) setUser(userinfo string) error {
	user, password, _ := strings.Cut(userinfo, ":")
	var errUser, errPassword error
	t.user, errUser = url.PathUnescape(user)
	t.password, errPassword = url.PathUnescape(password)
	if errUser != nil || errPassword != nil {
		return errors.New("user or password is not percent-encoded")
	}
	return nil
}

func splitHosts(list, port string) ([]string, error) {
	hosts := strings.Split(list, ",")
	for i, host := range hosts {
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host = strings.Trim(host, "[]")
			hosts[i] = net.JoinHostPort(host, port)
		}
		name, number, err := net.SplitHostPort(hosts[i])
		if n, errPort := strconv.Atoi(number); err != nil || name == "" || errPort != nil || n < 1 || n > 65535 {
			return nil, errors.New("host number " + strconv.Itoa(i+1) + " is not of the form host or host:port")
		}
	}
	return hosts, nil
}

// setPath reads what stands behind the hosts: a database, a primary's name, or nothing.
func (t *topology) setPath(path string) error {
	switch t.scheme {
	case schemeSentinel:
		if path == "" || strings.Contains(path, "/") {
			return errors.New("redis-sentinel:// needs the primary's name behind the hosts, as in redis-sentinel://host,host/name")
		}
		t.master = path
		return nil
	case schemeSingle, schemeTLS:
		if len(t.hosts) > 1 {
			return errors.New(t.scheme + ":// takes one host; for several use redis-cluster://, redis-sentinel:// or ?replica=host:port")
		}
		if path == "" {
			return nil
		}
		db, err := strconv.Atoi(path)
		if err != nil || db < 0 {
			return errors.New("the path must be the number of a database, as in redis://host:6379/0")
		}
		t.db = db
		return nil
	}
	if path != "" && path != "0" {
		return errors.New(t.scheme + ":// takes no path")
	}
	return nil
}

func (t *topology) setQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("what follows the ? is malformed")
	}
	for name, values := range query {
		switch {
		case name == "replica" && t.scheme == schemeSingle || name == "replica" && t.scheme == schemeTLS:
			replicas, err := splitHosts(strings.Join(values, ","), "6379")
			if err != nil {
				return errors.New("replica: " + err.Error())
			}
			if t.db != 0 {
				return errors.New("replicas are read from database 0 only")
			}
			t.hosts = append(t.hosts, replicas...)
			t.readReplicas = true
		case name == "replicas" && t.scheme == schemeCluster && len(values) == 1 && values[0] == "read":
			t.readReplicas = true
		default:
			return errors.New(t.scheme + ":// has no such parameter or value behind the ?; there are replica=host:port for redis:// and replicas=read for redis-cluster://")
		}
	}
	return nil
}
