package servers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// masters is the least number of masters that makes a Redis Cluster.
const masters = 3

// Cluster is a private Redis Cluster of three masters without replicas, which keeps nothing on disk.
type Cluster struct {
	nodes []*Redis
}

// StartCluster starts the nodes and joins them. It returns once each of them says that all slots
// are served; ctx bounds the start alone.
func StartCluster(ctx context.Context) (*Cluster, error) {
	c := &Cluster{}
	for range masters {
		node, err := StartRedis(ctx, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
			"--cluster-node-timeout", "5000")
		if err != nil {
			return nil, errors.Join(err, c.Stop())
		}
		c.nodes = append(c.nodes, node)
	}
	if err := errors.Join(c.join(ctx), c.await(ctx)); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// join deals the slots out to the nodes.
func (c *Cluster) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	program, err := lookup("redis-cli")
	if err != nil {
		return err
	}
	args := append([]string{"--cluster", "create"}, c.addrs()...)
	cmd := exec.CommandContext(ctx, program, append(args, "--cluster-yes")...)
	cmd.SysProcAttr = attributes(nil)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("redis-cli --cluster create: %w\n%s", err, out)
	}
	return nil
}

// await waits until all nodes agree that the cluster is complete.
func (c *Cluster) await(ctx context.Context) error {
	for _, node := range c.nodes {
		err := node.process.await(ctx, func(ctx context.Context) error {
			info, err := node.command(ctx, "CLUSTER INFO")
			if err != nil {
				return err
			}
			for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:16384", fmt.Sprintf("cluster_known_nodes:%d", masters)} {
				if !strings.Contains(info, want+"\r\n") {
					return fmt.Errorf("node %s: not yet %s", node.Addr(), want)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// URL names the cluster as CIRCLE_REDIS_URL does.
func (c *Cluster) URL() string { return "redis-cluster://" + strings.Join(c.addrs(), ",") }

// String tells where the nodes are, for logs.
func (c *Cluster) String() string {
	var nodes []string
	for _, node := range c.nodes {
		nodes = append(nodes, fmt.Sprintf("%s in %s", node.Addr(), node.process.folder))
	}
	return "Redis Cluster on " + strings.Join(nodes, ", ")
}

// Size is the number of nodes.
func (c *Cluster) Size() int { return len(c.nodes) }

// Kill ends one node at once, 0 to Size-1; all that it held is lost.
func (c *Cluster) Kill(node int) error { return c.nodes[node].Kill() }

// Restart starts one node again on its port, empty, and waits until the cluster is complete.
func (c *Cluster) Restart(ctx context.Context, node int) error {
	if err := c.nodes[node].Restart(ctx); err != nil {
		return err
	}
	return c.await(ctx)
}

// Stop ends all nodes and removes their folders.
func (c *Cluster) Stop() error {
	var errs []error
	for _, node := range c.nodes {
		errs = append(errs, node.Stop())
	}
	return errors.Join(errs...)
}

func (c *Cluster) addrs() []string {
	var addrs []string
	for _, node := range c.nodes {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}
