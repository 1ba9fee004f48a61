// Package redisstore keeps entities in Redis so that reading them costs one trip however many there
// are. Every value can be built again from the relational store: a value that is missing, of
// another index epoch, or not readable is simply absent, and every error means that the caller
// should ask the relational store instead.
//
// Values begin with the index epoch and the row's version. They are written by scripts that leave
// a later value alone, so writers may come late, twice and in any order.
//
// A deployment is one server, one primary with replicas, Sentinel, a Cluster, or a ring of servers;
// topology.go says how each is written. Redis 7.0 or later is needed.
package redisstore
