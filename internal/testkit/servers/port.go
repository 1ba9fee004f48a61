package servers

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	// Ports are drawn below the range from which systems take outgoing ports, together with the bus
	// port of a cluster node.
	firstPort = 15000
	lastPort  = 22000
	// busOffset is the distance of a cluster node's bus port.
	busOffset = 10000
	portTries = 200
)

// freePort draws a loopback port that is free and whose bus port is free too.
func freePort() (int, error) {
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if isFree(port) && isFree(port+busOffset) {
			return port, nil
		}
	}
	return 0, errors.New("no free port found")
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}
