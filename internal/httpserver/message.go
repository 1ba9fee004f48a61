package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

const (
	// subprotocol is the one that sockets speak: GraphQL over WebSocket, as the library graphql-ws has it.
	subprotocol = "graphql-transport-ws"

	// MaxMessageBytes bounds a message of a socket: the longest document with all its line ends
	// escaped, and as much for its variables.
	MaxMessageBytes = 256 << 10
	// maxOperationID bounds the ids that clients give to operations, in bytes.
	maxOperationID = 64
)

// Types of messages.
const (
	typeInit      = "connection_init"
	typeAck       = "connection_ack"
	typePing      = "ping"
	typePong      = "pong"
	typeSubscribe = "subscribe"
	typeNext      = "next"
	typeError     = "error"
	typeComplete  = "complete"
)

// message is what a client may send.
type message struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

var (
	errNoMessage   = errors.New("the message is not a JSON object of the protocol")
	errMessageType = errors.New("the message has an unknown type")
	errMessageID   = errors.New("the message needs an id of 1 to 64 bytes")
	errPayload     = errors.New("the payload is not an object")
)

// decodeMessage reads a message and checks that it has what its type needs. The text of an error
// fits into a close frame.
func decodeMessage(data []byte) (m message, err error) {
	if !utf8.Valid(data) || json.Unmarshal(data, &m) != nil {
		return message{}, errNoMessage
	}
	if string(m.Payload) == "null" {
		m.Payload = nil
	}
	object := bytes.HasPrefix(m.Payload, []byte("{"))
	switch m.Type {
	case typeSubscribe, typeComplete:
		if m.ID == "" || len(m.ID) > maxOperationID {
			return message{}, errMessageID
		}
		if m.Type == typeSubscribe && !object {
			return message{}, errPayload
		}
	case typeInit, typePing, typePong:
		if m.Payload != nil && !object {
			return message{}, errPayload
		}
	default:
		return message{}, errMessageType
	}
	return m, nil
}

// authorizationOf reads the token from the payload of connection_init; null and nothing are the same.
func authorizationOf(payload json.RawMessage) (authorization string, err error) {
	if payload == nil {
		return "", nil
	}
	var given struct{ Authorization string }
	if err := json.Unmarshal(payload, &given); err != nil {
		return "", errors.New("the payload's Authorization is not a string")
	}
	return given.Authorization, nil
}

// encodeMessage writes a message of the server; id and payload are left out when empty. The payload
// is JSON.
func encodeMessage(kind, id string, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+len(id)+64)
	b = append(b, '{')
	b = appendMember(b, "id", id, len(id))
	b = appendMember(b, "type", kind, len(kind))
	if len(payload) > 0 {
		b = append(appendKey(b, "payload"), payload...)
	}
	return append(b, '}')
}
