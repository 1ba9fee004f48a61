// Package servers starts private real servers for tests: MariaDB, Redis and a Redis Cluster, each on
// free loopback ports with a folder of its own. Each ends by its own Stop, and on Linux also when the
// program that started it dies.
package servers
