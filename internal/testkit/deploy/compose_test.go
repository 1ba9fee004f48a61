package deploy

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"circle/internal/config"
	"circle/internal/testkit/servers"
	"circle/internal/testkit/tree"
)

// compose is the part of a compose file that the tests look at.
type compose struct {
	Services map[string]service
	Volumes  map[string]any
}

type service struct {
	Image       string
	Build       string
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck struct {
		Test     []string
		Interval string
		Timeout  string
	}
}

// pinned is an image by name and major version.
var pinned = regexp.MustCompile(`^[a-z]+:\d+(\.\d+)?(-slim)?$`)

func readCompose(t *testing.T) compose {
	t.Helper()
	var c compose
	require.NoError(t, yaml.Unmarshal(readFile(t, "docker-compose.yml"), &c))
	return c
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	root, err := tree.Root()
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return content
}

func TestEachServiceIsPinnedAndWatched(t *testing.T) {
	c := readCompose(t)
	images := map[string]string{}
	for name, s := range c.Services {
		images[name] = s.Image
		require.NotEmpty(t, s.Healthcheck.Test, name)
		require.NotEmpty(t, s.Healthcheck.Interval, name)
		require.NotEmpty(t, s.Healthcheck.Timeout, name)
		require.Contains(t, []string{"CMD", "CMD-SHELL"}, s.Healthcheck.Test[0], name)
		require.NotEmpty(t, s.Volumes, name)
		for _, volume := range s.Volumes {
			volume, _, _ := strings.Cut(volume, ":")
			require.Contains(t, c.Volumes, volume, name)
		}
		for on, condition := range s.DependsOn {
			require.Contains(t, c.Services, on, name)
			require.Equal(t, "service_healthy", condition.Condition, name)
		}
		if s.Image != "" {
			require.Regexp(t, pinned, s.Image)
		}
	}
	require.Equal(t, map[string]string{"circle": "", "mysql": "mysql:8", "redis": "redis:7", "redis-replica": "redis:7"}, images)
	require.Equal(t, ".", c.Services["circle"].Build)
}

func TestCircleIsSetAsItReadsItsSettings(t *testing.T) {
	c := readCompose(t)
	circle := c.Services["circle"]
	var environ []string
	for name, value := range circle.Environment {
		require.Contains(t, settings(), name)
		value, err := interpolate(value, map[string]string{"CIRCLE_JWT_SECRET": strings.Repeat("s", 32)})
		require.NoError(t, err)
		environ = append(environ, name+"="+value)
	}
	read, err := config.Load(environ)
	require.NoError(t, err)
	require.NotEmpty(t, read.Auth.Secret)
	for _, address := range []string{read.Database.URL, read.Redis.URL} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Contains(t, c.Services, u.Hostname(), "the address names a service")
		require.Contains(t, circle.DependsOn, u.Hostname())
		for _, replica := range u.Query()["replica"] {
			host, _, _ := strings.Cut(replica, ":")
			require.Contains(t, circle.DependsOn, host)
		}
	}
	for _, port := range circle.Ports {
		require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s is open to the network", port)
	}
	_, err = interpolate(circle.Environment["CIRCLE_JWT_SECRET"], nil)
	require.Error(t, err, "the secret comes from outside")
}

func TestPasswordsCanBeSetFromOutside(t *testing.T) {
	c := readCompose(t)
	for name, s := range c.Services {
		for variable, value := range s.Environment {
			if strings.HasSuffix(variable, "_PASSWORD") && variable != "MYSQL_RANDOM_ROOT_PASSWORD" {
				require.True(t, strings.HasPrefix(value, "${"), "%s of %s is typed in", variable, name)
			}
		}
	}
	given := map[string]string{"MYSQL_PASSWORD": "other"}
	password, err := interpolate(c.Services["mysql"].Environment["MYSQL_PASSWORD"], given)
	require.NoError(t, err)
	address, err := interpolate(c.Services["circle"].Environment["CIRCLE_DATABASE_URL"], given)
	require.NoError(t, err)
	require.Equal(t, "mysql://circle:"+password+"@mysql:3306/circle", address)
}

func TestRedisKeepsTheCompactEncodings(t *testing.T) {
	c := readCompose(t)
	for _, name := range []string{"redis", "redis-replica"} {
		command := c.Services[name].Command
		for i := 0; i < len(servers.Encodings); i += 2 {
			at := slices.Index(command, servers.Encodings[i])
			require.GreaterOrEqual(t, at, 0, "%s lacks %s", name, servers.Encodings[i])
			require.Equal(t, servers.Encodings[i+1], command[at+1], "%s of %s", servers.Encodings[i], name)
		}
	}
	at := slices.Index(c.Services["redis-replica"].Command, "--replicaof")
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, "redis", c.Services["redis-replica"].Command[at+1])
}

func TestInterpolateIsComposes(t *testing.T) {
	for _, c := range []struct{ name, text, want, err string }{
		{"plain", "a", "a", ""},
		{"given", "x${A}y", "x1y", ""},
		{"default", "${B:-2}", "2", ""},
		{"given beats the default", "${A:-2}", "1", ""},
		{"required", "${B:?needed}", "", "B: needed"},
		{"neither", "${B}", "", "B: not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := interpolate(c.text, map[string]string{"A": "1"})
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

var variable = regexp.MustCompile(`\$\{(\w+)(?::([-?])([^}]*))?\}`)

// interpolate fills in variables as compose does. One that is neither given nor has a default fails.
func interpolate(text string, given map[string]string) (string, error) {
	var failed error
	filled := variable.ReplaceAllStringFunc(text, func(match string) string {
		part := variable.FindStringSubmatch(match)
		switch value := given[part[1]]; {
		case value != "":
			return value
		case part[2] == "-":
			return part[3]
		case part[2] == "?":
			failed = fmt.Errorf("%s: %s", part[1], part[3])
		default:
			failed = fmt.Errorf("%s: not set", part[1])
		}
		return ""
	})
	return filled, failed
}

// settings are the names that the program reads out of its environment.
func settings() []string {
	var names []string
	for _, group := range reflect.VisibleFields(reflect.TypeFor[config.Config]()) {
		for _, field := range reflect.VisibleFields(group.Type) {
			names = append(names, field.Tag.Get("env"))
		}
	}
	return names
}
